# ruff: noqa: E501
"""Lines as an agent would run them: what must be masked in each, and a neighbour in which nothing must be.

The names of options and variables are facts from the manuals of the programs and from the public rules of scanners.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable

import pytest
from every import every
from secrets_table import BASE62, HEX, any_of

from tray.text import redact, redact_value

S = "hunter2x"  # the secret; {} in a line

# name -> (the line with {} where the secret is, a neighbour that stays as it is)
LINES: dict[str, tuple[str, str]] = {
    # variables and keys
    "a name in brackets": ('os.environ["DB_PASS"] = "{}"', 'os.environ["DB_HOST"] = "localhost"'),
    "an element": ("<password>{}</password>", "<passwords>3</passwords>"),
    "define": ("define( 'DB_PASSWORD', '{}' );", "define('DB_NAME', 'shop');"),
    "setenv": ('setenv("DB_PASS", "{}", 1);', 'setenv("DB_HOST", "db.internal", 1);'),
    "setenv of csh": ("setenv DB_PASS {}", "setenv DB_HOST db.internal"),
    "ENV of an image": ("ENV DB_PASS {}", "ENV DB_HOST db.internal"),
    "curl with letters": ("curl -sSu bob:{} https://x", "date -u +%Y-%m-%dT%H:%M:%SZ"),
    "curl without a blank": ("curl -ubob:{} https://x", "docker run -u 1000:1000 img"),
    "curl in a script": ('curl -u "bob:{}" https://x', 'curl -u "$USER:$TOKEN" https://x'),
    "a pin": ('pin = "{}9a"', 'pine = "hooktray_pine:AGENT"'),
    "DB_PASS": ("DB_PASS={} ./run", "DB_PASSES=12 ./run"),
    "DB_PASS with a dot": ("DB_PASS=a.{} ./run", "BYPASS=a.b ./run"),
    "PGPASSWORD": ("PGPASSWORD={} psql -h db", "PGPASSFILE=/home/me/.pgpass psql -h db"),
    "MYSQL_PWD": ("MYSQL_PWD={} mysql -u root", "PWD=/home/me/api mysql -u root"),
    "OLDPWD": ("SMTP_PWD={} send", "OLDPWD=/home/me/api send"),
    "REDISCLI_AUTH": ("REDISCLI_AUTH={}9a redis-cli ping", "AUTHOR=somebody redis-cli ping"),
    "dbpass": ("dbpass={} make", "compass=north make"),
    "dbPass": ('{{"dbPass": "{}"}}', '{{"passed": "yes"}}'),
    "db_pass in JSON": ('{{"db_pass":"{}"}}', '{{"passes":"3"}}'),
    "pass in JSON": ('{{"user":"bob","pass":"{}"}}', '{{"pass": 12, "fail": 3}}'),
    "pass in YAML": ("db:\n  user: me\n  pass: {}\n", "tests:\n  pass: 12\n  fail: 3\n"),
    "pass with an equals sign": ("pass={} ./login", "pass=12 fail=3"),
    "first pass": ("wifi_pass: {}", "2nd pass: parse the file"),
    "ansible_become_pass": ("ansible-playbook x.yml -e ansible_become_pass={}", "ansible-playbook x.yml -e bypass=yes"),
    "ansible_ssh_pass": ("host1 ansible_ssh_pass={}", "host1 ansible_ssh_port=22"),
    "wp passcode": ("passcode: {}", "passenger: somebody"),
    "sudo_pass": ("export sudo_pass='{}'", "export surpass='other'"),
    "SECRET": ("SESSION_SECRET={} node app.js", "SECRETARY=anna node app.js"),
    "client secret": ("OIDC_CLIENT_SECRET={} run", "OIDC_CLIENT_ID=web run"),
    "token": ("NPM_TOKEN={}99z npm publish", "MAX_TOKENS=4096 npm publish"),
    "credential": ("DB_CREDENTIAL={} run", "CREDENTIAL_FILE=/run/x run"),
    "STRIPE_KEY": ("STRIPE_KEY={}1a run", "PRIMARY_KEY=user_id1 run"),
    "MAPS_KEY": ("export MAPS_KEY={}Zq81", "export CACHE_KEY=build-2024-a1"),
    "openaiKey": ('{{"openaiKey": "{}a81"}}', '{{"publicKey": "ssh-rsa-a1b2c3"}}'),
    "DJANGO_SECRET_KEY": ("DJANGO_SECRET_KEY={} run", "SORT_KEY=created2024at run"),
    "encryption key": ("ENCRYPTION_KEY={} run", "PARTITION_KEY=tenant-2024 run"),
    "password in Chinese": ("密码\uff1a{}", "密集\uff1ahunter2y"),
    "password in Chinese, in words": ("数据库密码是 {}", "代码是 hunter2y"),
    "password in Chinese, in JSON": ('{{"密码": "{}"}}', '{{"姓名": "hunter2y"}}'),
    "token in Chinese": ("令牌: {}", "号码: hunter2y"),
    "password in Russian": ("пароль: {}", "параметр: hunter2y"),
    "password in German": ("Passwort: {}", "Passworte gibt es viele"),
    "Kennwort": ("kennwort={}", "kennzeichen=M-AB"),
    "password in Spanish": ("contraseña={}", "contraste=alto"),
    "password in French": ("mot de passe : {}", "mot de fin : hunter2y"),
    "password in Portuguese": ("senha: {}", "senhora: anna"),
    "password in Japanese": ("パスワード: {}", "パス: hunter2y"),
    "password in Korean": ("비밀번호: {}", "이름: hunter2y"),
    # databases
    "mysql -p": ("mysql -u root -p{} shop", "mysql -u root -p shop"),
    "mysql -p quoted": ("mysql -uroot -p'{}' -e 'select 1'", "mysql -uroot -P 3306 -e 'select 1'"),
    "mysqldump": ("mysqldump -h db -p{} shop > x.sql", "mysqldump -h db --port=3306 shop > x.sql"),
    "mysqladmin": ("mysqladmin -p{} status", "mysqladmin -p status"),
    "mariadb": ("mariadb -p{} shop", "mariadb --protocol=tcp shop"),
    "mysql --password": ("mysql --password={} shop", "mysql --user=me shop"),
    "redis-cli -a": ("redis-cli -h cache -a {} ping", "redis-cli -h cache -n 3 ping"),
    "redis-cli auth": ("redis-cli AUTH {}", "redis-cli PING hunter2y"),
    "redis --pass": ("redis-cli --pass {} ping", "redis-cli --pipe hunter2y"),
    "mongosh": ("mongosh -u me -p {} db", "mongosh --port 27017 db"),
    "mongodump": ("mongodump --password {} --db x", "mongodump --db x --out y"),
    "sqlcmd": ("sqlcmd -S db -U sa -P {}", "sqlcmd -S db -U sa -E"),
    "sqlplus": ("sqlplus scott/{}@db", "sqlplus /nolog"),
    "cqlsh": ("cqlsh -u me -p {} host", "cqlsh -u me host"),
    "psql url": ("psql postgres://me:{}@db/shop", "psql postgres://db/shop"),
    "SQL PASSWORD": ("psql -c \"ALTER USER me PASSWORD '{}'\"", "psql -c \"SELECT password FROM t\""),
    "SQL WITH PASSWORD": ("CREATE ROLE me WITH LOGIN PASSWORD '{}';", "CREATE ROLE me WITH LOGIN;"),
    "SQL IDENTIFIED BY": ("CREATE USER me IDENTIFIED BY '{}';", "CREATE USER me IDENTIFIED EXTERNALLY;"),
    "SQL IDENTIFIED WITH": (
        "ALTER USER me IDENTIFIED WITH mysql_native_password BY '{}';", "ALTER USER me ACCOUNT LOCK;",
    ),
    "SQL PASSWORD()": ("SET PASSWORD = PASSWORD('{}')", "SELECT LENGTH('hunter2y')"),
    "pgpass": ("echo 'db:5432:shop:me:{}' >> ~/.pgpass", "chmod 600 ~/.pgpass"),
    "clickhouse": ("clickhouse-client --password {} -q x", "clickhouse-client --port 9000 -q x"),
    "influx": ("influx -username me -password {}", "influx -username me -database x"),
    # logins and registries
    "docker login": ("docker login -u me -p {} ghcr.io", "docker run -p 8080:80 nginx"),
    "docker login --password": ("docker login --password {} ghcr.io", "docker login --username me ghcr.io"),
    "podman login": ("podman login -u me -p {} quay.io", "podman run -p 8443 x"),
    "helm registry login": ("helm registry login -u me -p {} ghcr.io", "helm install -n prod x ./chart"),
    "az login": ("az login --service-principal -u id -p {} --tenant t", "az group list -o table"),
    "docker stdin": ("echo {} | docker login --password-stdin ghcr.io", "echo done | docker load"),
    "printf stdin": ("printf '%s' '{}' | docker login -u me --password-stdin", "printf '%s' 'done' | cat"),
    "skopeo": ("skopeo copy --src-creds me:{} docker://a docker://b", "skopeo copy docker://a docker://b"),
    "gh auth": ("echo {} | gh auth login --with-token", "echo done | gh issue create -F -"),
    "vault login": ("vault login {}", "vault status hunter2y"),
    "cargo login": ("cargo login {}", "cargo build hunter2y"),
    "twine": ("twine upload -u me -p {} dist/x", "twine check -s dist/x"),
    "poetry config": ("poetry config http-basic.acme me {}", "poetry config virtualenvs.create false"),
    "poetry token": ("poetry config pypi-token.pypi {}", "poetry config repositories.acme https://acme"),
    "npm config": ("npm config set //r.acme.com/:_authToken {}", "npm config set registry https://r.acme.com"),
    "nuget": ("dotnet nuget push x.nupkg -k {} -s acme", "dotnet nuget list source"),
    "git config": ("git config --global sendemail.smtpPassword {}", "git config --global credential.helper store"),
    "git clone": ("git clone https://me:{}@git.acme.com/x.git", "git clone https://git.acme.com/x.git"),
    # clouds
    "aws configure set": ("aws configure set aws_secret_access_key {}", "aws configure set region eu-west-1"),
    "aws configure session": ("aws configure set aws_session_token {}", "aws configure set output json"),
    "aws secretsmanager": (
        "aws secretsmanager create-secret --name x --secret-string {}", "aws secretsmanager list-secrets --max-items 5",
    ),
    "aws ssm": ("aws ssm put-parameter --name /x --type SecureString --value {}", "aws ssm get-parameter --name /x"),
    "az keyvault": ("az keyvault secret set --vault-name v -n x --value {}", "az keyvault list -g x"),
    "gh secret set": ("gh secret set DEPLOY --body {}", "gh variable set REGION --body eu-west-1"),
    "gh secret set -b": ('gh secret set DEPLOY -b"{}"'.replace('-b"', '-b "'), "gh issue create -b 'some words'"),
    "gh secret piped": ("echo {} | gh secret set DEPLOY", "echo words | gh issue create -F -"),
    "kubectl literal": (
        "kubectl create secret generic db --from-literal=a={}", "kubectl create configmap db --from-literal=a=blue2024",
    ),
    "kubectl two literals": (
        "kubectl create secret generic db --from-literal=user=me12 --from-literal=b={}", "kubectl get secret db -o yaml",
    ),
    "kubectl registry": (
        "kubectl create secret docker-registry r --docker-username=me --docker-password={}", "kubectl get pods -n prod",
    ),
    "fly": ("fly secrets set DATABASE={} -a app", "fly secrets list -a app"),
    "doppler": ("doppler secrets set SMTP={}", "doppler run -- make"),
    "wrangler": ("echo {} | wrangler secret put SMTP", "echo words | wrangler tail"),
    "vault kv": ("vault kv put secret/db user=me1234 code={}", "vault kv get secret/db"),
    "pulumi": ("pulumi config set --secret smtp {}", "pulumi config set region eu-west-1"),
    "heroku": ("heroku config:set SMTP_PASSWORD={}", "heroku config:set REGION=eu"),
    "terraform": ("terraform apply -var db_password={}", "terraform apply -var region=eu-west-1"),
    "supabase": ("supabase secrets set SMTP={}", "supabase secrets list"),
    "azure connection": ("AccountName=x;AccountKey={};Suffix=y", "AccountName=x;Suffix=y"),
    # systems
    "sshpass": ("sshpass -p {} ssh me@host", "ssh -p 2222 me@host"),
    "sshpass attached": ("sshpass -p{} scp a b", "scp -P 2222 a b"),
    "sudo -S": ("echo {} | sudo -S apt update", "echo yes | sudo tee /etc/x"),
    "chpasswd": ("echo 'root:{}' | chpasswd", "echo 'a:b' | sort"),
    "chpasswd with sudo": ("echo me:{} | sudo chpasswd -e", "echo me:x | sudo tee /tmp/x"),
    "chpasswd here-string": ("chpasswd <<< 'root:{}'", "sort <<< 'root:other'"),
    "chpasswd here-document": ("chpasswd <<EOF\nroot:{}\nEOF", "cat <<EOF\nroot:other\nEOF"),
    "passwd --stdin": ("echo {} | passwd --stdin me", "echo words | wc -c"),
    "useradd": ("useradd -m -p {} me", "useradd -m me"),
    "usermod": ("usermod -p {} me", "usermod -aG docker me"),
    "htpasswd": ("htpasswd -cb .htpasswd me {}", "htpasswd -c .htpasswd me"),
    "htpasswd -nb": ("htpasswd -nb me {}", "htpasswd -v .htpasswd me"),
    "netrc": ("echo 'machine x login me password {}' >> ~/.netrc", "echo 'machine x' >> notes"),
    "netrc on lines": ("machine x\n  login me\n  password {}\n", "machine x\n  login me\n"),
    "ldapsearch": ("ldapsearch -x -D cn=me -w {} -b dc=x", "ldapsearch -x -D cn=me -b dc=x"),
    "ldappasswd": ("ldappasswd -D cn=me -w old9a -s {} uid=x", "ldapwhoami -x"),
    "smbclient": ("smbclient //h/x -U me%{}", "smbclient //h/x -U me"),
    "samba-tool": ("samba-tool user create me {}", "samba-tool user list"),
    "net use": ("net use \\\\h\\x {} /user:me", "net use \\\\h\\x /delete"),
    "cmdkey": ("cmdkey /add:h /user:me /pass:{}", "cmdkey /list"),
    "xfreerdp": ("xfreerdp /u:me /p:{} /v:h", "xfreerdp /u:me /port:3389 /v:h"),
    "nmcli": ("nmcli dev wifi connect home password {}", "nmcli dev wifi list"),
    "wpa_passphrase": ("wpa_passphrase home {}", "wpa_cli status hunter2y"),
    "ssh-keygen": ("ssh-keygen -t ed25519 -N {} -f k", "ssh-keygen -t ed25519 -f k"),
    "openssl passin": ("openssl rsa -in k -passin pass:{}", "openssl rsa -in k -passin env:X"),
    "openssl enc": ("openssl enc -aes-256-cbc -k {} -in x", "openssl dgst -sha256 x"),
    "gpg": ("gpg --batch --passphrase {} -c x", "gpg --batch --output y -c x"),
    "gpg fd": ("echo {} | gpg --passphrase-fd 0 -c x", "echo words | gpg --clearsign"),
    "zip": ("zip -P {} x.zip x", "zip -r x.zip x"),
    "unzip": ("unzip -P {} x.zip", "unzip -p x.zip file"),
    "7z": ("7z a -p{} x.7z x", "7z a x.7z x"),
    "rar": ("rar a -hp{} x.rar x", "rar a x.rar x"),
    "keytool": ("keytool -list -storepass {} -keystore k", "keytool -list -keystore k"),
    "keytool two": ("keytool -genkey -storepass changeme9 -keypass {}", "keytool -genkey -alias x"),
    "security": ("security add-generic-password -a me -s x -w {}", "security find-identity -p codesigning"),
    "ipmitool": ("ipmitool -H h -U me -P {} power on", "ipmitool -H h -U me power on"),
    "snmp": ("snmpwalk -v3 -u me -A {} h", "snmpwalk -v2c -c public h"),
    "mosquitto": ("mosquitto_pub -u me -P {} -t x", "mosquitto_pub -p 1883 -t x"),
    "rabbitmq": ("rabbitmqctl add_user me {}", "rabbitmqctl list_users"),
    "lftp": ("lftp -u me,{} h", "lftp h"),
    "wget": ("wget --http-password {} https://h/x", "wget --tries 3 https://h/x"),
    "curl -u": ("curl -u me:{} https://h", "curl -H accept:json https://h"),
    "curl --user": ("curl --user me:{} https://h", "curl --url https://h"),
    "curl header": ("curl -H 'X-Api-Key: {}' https://h", "curl -H 'Accept: text/html' https://h"),
    "curl proxy": ("curl --proxy-user me:{} https://h", "curl --proxy http://p:3128 https://h"),
    "httpie": ("http -a me:{} GET h", "http GET h name==x"),
    "etcdctl": ("etcdctl --user root:{} get x", "etcdctl get x"),
    "svn": ("svn co --username me --password {} svn://h", "svn co --username me svn://h"),
    "mount": ("mount -t cifs //h/x /m -o user=me,password={}", "mount -t cifs //h/x /m -o user=me"),
    "pass insert": ("echo {} | pass insert -m mail", "pass show mail/hunter2y"),
    "token option": ("deploy -token {}9a81", "deploy -target prod1234"),
    "gh secret set -bX": ("gh secret set DEPLOY -b{}", "gh issue create -bwords"),
    "ldapsearch -xw": ("ldapsearch -xw {} -b dc=x", "ldapsearch -xb dc=x"),
    "bcp": ("bcp t in f -U sa -P {}", "bcp t in f -T"),
    "xh": ("xh -a u:{} h", "xh h a==hunter2y"),
    "git config user.password": ("git config user.password {}", "git config user.name somebody"),
    "doppler NAME VALUE": ("doppler secrets set SMTP {}", "doppler secrets get SMTP"),
    "netlify": ("netlify env:set API_TOKEN {}", "netlify env:set REGION eu-west-1"),
    "composer": ("composer config http-basic.acme.com me {}", "composer config repositories.x vcs"),
    "ncftp": ("ncftpget -u me -p {} h f", "ncftpget -u me h f"),
    "sudo -S here-string": ("sudo -S true <<< {}", "sudo tee x <<< words"),
    "passwd --stdin here-string": ("passwd --stdin me <<< {}", "cat - <<< words"),
    "SQL SET PASSWORD FOR": ("SET PASSWORD FOR 'me'@'%' = '{}'", "SET NAMES 'utf8'"),
    "XML setting": ('<add key="DbPassword" value="{}"/>', '<add key="DbHost" value="db.acme.com"/>'),
    # code
    "a type": ('password: str = "{}"', "password: str"),
    "a type that may be none": ("password: str | None = '{}'", "password: str | None = None"),
    "Optional": ("password: Optional[str] = '{}'", "password: Optional[str] = Field(repr=False)"),
    "a weak name with a type": ('token: str = "{}9a81"', "token: int = 5"),
    "SecretStr": ('password: SecretStr = SecretStr("{}")', "password: SecretStr"),
    "bytes": ('password = b"{}"', "password: bytes = b''"),
    "TypeScript": ("const password: string = '{}';", "password?: string;"),
    "an optional parameter": ("password?: string = '{}'", "password: string | undefined"),
    "Rust": ("const DB_PASSWORD: &'static str = \"{}\";", "fn f(password: &str) -> String"),
    "Go": ('var password string = "{}"', "func login(user, password string) error"),
    "C#": ('password = @"{}";', "password: String,"),
    "a type and a later text": ("def f(password: str = '{}', host: str = 'db')", "def f(password: str, host: str = 'db.acme9')"),
    "fill": ("page.fill('#password', '{}')", "page.fill('#username', 'hunter2y')"),
    "fill by an attribute": ("page.fill('input[name=\"password\"]', '{}')", "page.click('input[name=\"password\"]')"),
    "fill with a variable": ('page.type("#user_password", "{}")', "page.fill('#password', password)"),
    "fill of a locator": ("page.locator('#password').fill('{}')", "page.locator('#password').fill('')"),
    "fill of a label": ('page.get_by_label("Password").fill("{}")', "page.getByLabel('Password').click()"),
    "type of a label": ("await user.type(screen.getByLabelText('Password'), '{}')", "t('password', 'hunter2y')"),
    "send_keys": ('find_element(By.ID, "password").send_keys("{}")', 'find_element(By.ID, "password")'),
    "Cypress": ("cy.get('input[type=password]').type('{}')", "input type=password"),
    "environ.get": ('os.environ.get("DB_PASSWORD", "{}")', 'os.environ.get("TOKEN_PATH", "/x")'),
    "environ.get on lines": (
        'os.environ.get(\n    "DB_PASSWORD",\n    "{}",\n)', 'os.environ.get(\n    "TOKEN_PATH",\n    "/run/x9",\n)',
    ),
    "getenv": ("os.getenv('DB_PASSWORD', '{}')", "base64.b64decode(os.getenv('SECRET'), 'utf-8')"),
    "putenv": ("os.putenv('DB_PASSWORD', '{}')", "os.putenv('TOKEN_PATH', '/run/x9')"),
    "env of Laravel": ("'password' => env('DB_PASSWORD', '{}'),", "'password' => env('DB_PASSWORD', ''),"),
    "setdefault": ("os.environ.setdefault('DB_PASSWORD', '{}')", "os.environ.setdefault('DB_HOST', 'db.acme9')"),
    "define with a call": ("define('DB_PASSWORD', '{}');", "define('DB_PASSWORD', getenv('X'));"),
    "or": ("os.environ.get('DB_PASSWORD') or '{}'", "os.environ.get('DB_PASSWORD') or None"),
    "process.env": ("process.env.DB_PASSWORD || '{}'", "Buffer.from(process.env.SECRET, 'base64')"),
    "import.meta.env": ('import.meta.env.VITE_PASSWORD ?? "{}"', "{{errors.password || 'Enter a password'}}"),
    "ENV of Ruby": ("ENV['DB_PASSWORD'] || '{}'", "ENV['TOKEN_URL'] || 'https://a.acme9/x'"),
    "name and value in JSON": ('{{"name":"password","value":"{}"}}', '{{"name":"token","value":null}}'),
    "name and value in YAML": ("- name: DB_PASSWORD\n  value: {}", "- name: DB_PASSWORD\n  valueFrom: {{name: db9hunter}}"),
    "name and value in Terraform": ('name = "password"\n value = "{}"', 'name = "token_ttl"\n value = "3600s99a"'),
    "an argument named value": ('Variable("password", value="{}")', "def f(password, value=hunter2y)"),
    "an input": ('<input type="password" value="{}">', '<input type="password" name="password">'),
    "auth of requests": ("requests.get(u, auth=('me', '{}'))", 'auth("google","oauth2")'),
    "HTTPBasicAuth": ("auth=HTTPBasicAuth('me', '{}')", "auth: ['google', 'oauth2x9']"),
    "set_password": ("user.set_password('{}')", "getpass('Password: ')"),
    "setPassword": ('account.setPassword("{}");', "setPassword(e.target.value)"),
    "ConvertTo-SecureString": ("ConvertTo-SecureString '{}' -AsPlainText -Force", "ConvertTo-SecureString $p -AsPlainText -Force"),
    "ConvertTo-SecureString -String": (
        "ConvertTo-SecureString -AsPlainText -Force -String '{}'", "'ConvertTo-SecureString' of the module 'a.b'",
    ),
    "conan": ("conan user -p {} -r acme me", "conan install . -p profile9"),
    "fetch": ("fetch(u, {{password: '{}', credentials: 'include'}})", "fetch(u, {{credentials: 'include'}})"),
    # through other layers
    "in sh -c": ("sh -c 'mysql -p{} shop'", "sh -c 'mysql -p shop'"),
    "in ssh": ('ssh h "mysql -u root -p{} shop"', 'ssh h "mysql -u root shop"'),
    "after a separator": ("cd x && sshpass -p {} ssh h; ls", "cd x && ssh -p 22 h; ls"),
    "a password in quotes with spaces": ("sshpass -p '{} and more' ssh h", "ssh -p 22 h 'a and b'"),
}  # fmt: skip

TOKENS: dict[str, Callable[[random.Random], str]] = {
    "fly": lambda r: "fm2" + "_" + any_of(r, BASE62, 60),
    "terraform": lambda r: any_of(r, BASE62, 14) + ".atlas" + "v1." + any_of(r, BASE62, 67),
    "airtable": lambda r: "pa" + "t" + any_of(r, BASE62, 14) + "." + any_of(r, HEX, 64),
    "circleci": lambda r: "CCI" + "PAT_" + any_of(r, BASE62, 22) + "_" + any_of(r, HEX, 40),
    "tailscale": lambda r: "tsk" + "ey-auth-" + any_of(r, BASE62, 16) + "-" + any_of(r, BASE62, 32),
    "buildkite": lambda r: "bk" + "ua_" + any_of(r, HEX, 40),
    "pulumi": lambda r: "pu" + "l-" + any_of(r, HEX, 40),
    "netlify": lambda r: "nf" + "p_" + any_of(r, BASE62, 36),
    "planetscale": lambda r: "psc" + "ale_tkn_" + any_of(r, BASE62, 43),
    "posthog": lambda r: "ph" + "x_" + any_of(r, BASE62, 43),
    "rubygems": lambda r: "ruby" + "gems_" + any_of(r, HEX, 48),
    "resend": lambda r: "re" + "_" + any_of(r, BASE62, 8) + "_" + any_of(r, BASE62, 24),
    "onepassword": lambda r: "ops" + "_eyJ" + any_of(r, BASE62, 200),
    "openshift": lambda r: "sha" + "256~" + any_of(r, BASE62, 43),
    "dynatrace": lambda r: "dt0" + "c01." + any_of(r, string.ascii_uppercase, 24) + "." + any_of(r, string.ascii_uppercase, 64),
    "azure": lambda r: any_of(r, BASE62, 3) + "8" + "Q~" + any_of(r, BASE62, 34),
    "langsmith": lambda r: "lsv" + "2_pt_" + any_of(r, HEX, 32) + "_" + any_of(r, HEX, 10),
    "heroku": lambda r: "HR" + "KU-AA" + any_of(r, BASE62, 58),
    "mapbox": lambda r: "sk" + ".eyJ" + any_of(r, BASE62, 60) + "." + any_of(r, BASE62, 22),
    "sonar": lambda r: "sq" + "u_" + any_of(r, HEX, 40),
}  # fmt: skip
BEFORE = {
    "colour": "\x1b[31m",
    "bold colour": "\x1b[1;31m",
    "256 colours": "\x1b[38;5;208m",
    "erased line": "\x1b[K",
    "link": "\x1b]8;;https://acme.com\x07",
    "colour as printf has it": "\\033[31m",
    "colour as echo -e has it": "\\e[1;32m",
    "colour in JSON": "\\u001b[0m",
}


@every("name", LINES)
def test_a_secret_of_a_line_is_masked_and_nothing_in_its_neighbour(name: str) -> None:
    line, neighbour = LINES[name]
    line, neighbour = (
        line.format(S) if "{{" in line else line.replace("{}", S),
        neighbour.replace("{{", "{").replace("}}", "}"),
    )

    assert S not in redact(line).text
    assert redact(neighbour).text == neighbour


@every("name", LINES)
def test_a_secret_is_masked_in_the_json_of_a_tool_call_too(name: str) -> None:
    line = LINES[name][0]
    line = line.format(S) if "{{" in line else line.replace("{}", S)
    call = {"tool_name": "Bash", "tool_input": {"command": line, "argv": ["bash", "-lc", line]}}

    assert S not in json.dumps(redact_value(call)[0], ensure_ascii=False)
    assert S not in redact(json.dumps(call, ensure_ascii=False)).text


@every(
    "argv",
    [
        ["sshpass", "-p", S, "ssh", "h"],
        ["mysql", f"-p{S}"],
        ["deploy", "--password", S],
        ["sh", "-c", f"mysql -p{S}"],
        ["run", f"vault login {S}", "-v"],
        ["echo", f"\x1b[31mPASS\x1b[0mWORD={S}"],
    ],
)
def test_a_secret_is_masked_in_a_list_of_words(argv: list[str]) -> None:
    found, masks = redact_value({"command": argv})

    assert S not in json.dumps(found)
    assert len(masks) == 1
    assert redact_value(found)[0] == found


@every("name", TOKENS)
def test_a_token_is_masked_in_each_place(name: str) -> None:
    for seed in range(5):
        token = TOKENS[name](random.Random(f"{name}{seed}"))

        for text in (token, f"curl -d {token} x", json.dumps({"a": token}), f"x=%3D{token}"):
            assert token not in redact(text).text, text


@every("before", BEFORE)
def test_a_token_behind_an_escape_sequence_is_masked(before: str) -> None:
    token = "gh" + "p_" + any_of(random.Random(1), BASE62, 36)

    for text in (f"{BEFORE[before]}{token}\x1b[0m", f"{BEFORE[before]}PASS\x1b[0mWORD={token[4:]}"):
        assert token[4:] not in redact(text).text


def test_an_escape_sequence_inside_a_token_does_not_hide_it() -> None:
    token = "gh" + "p_" + any_of(random.Random(1), BASE62, 36)

    assert token[22:] not in redact(f"{token[:20]}\x1b[1m{token[20:]}").text


def test_a_coloured_text_without_a_secret_stays_as_it_is() -> None:
    assert redact("\x1b[31mred\x1b[0m").text == "\x1b[31mred\x1b[0m"


@pytest.mark.parametrize("variable", ["$DB_PASS", "${DB_PASS}", "$(cat /run/x)", "<password>", "%PASS%"])
def test_a_variable_or_a_placeholder_is_no_secret(variable: str) -> None:
    for line in (f"mysql -p{variable} shop", f"sshpass -p {variable} ssh h", f"redis-cli -a {variable}"):
        assert redact(line).text == line


def test_masking_a_masked_line_changes_nothing() -> None:
    text = "\n".join(line.replace("{}", S) for line, _ in LINES.values())
    once = redact(text).text

    assert redact(once).text == once
