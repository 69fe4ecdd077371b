// What the page does by itself: sign in with the link's token, follow new decisions, send what a person confirmed, keys.
"use strict";

async function enter() {
  const [token, target] = location.hash.slice(1).split(":");
  history.replaceState(null, "", location.pathname); // the token stays in no history
  if (!token) return location.replace("/"); // opened again: this browser is signed in, or is told that it is not
  const answer = await fetch("/enter", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  }).catch(() => null);
  const path = decodeURIComponent(target ?? "");
  if (answer?.ok) return location.replace(/^(decisions\/[\w-]+|confirm\/passphrase|confirm\/(approve|batch)\?of=[0-9a-f]{16}|questions\/[0-9a-f]{32}|session\?[\w=&%.~-]+)$/.test(path) ? `/${path}` : "/");
  if (answer) return show(await answer.text());
  document.querySelector("[role=status]").textContent = document.body.dataset.lost;
}

// Another page of ours in the place of this one.
function show(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  document.title = page.title;
  document.querySelector("main").replaceWith(page.querySelector("main"));
  document.querySelector("main").focus(); // read aloud
}

// New decisions come on top. Whoever is reading keeps their place: the browser holds what is on the screen where it is.
function follow(box) {
  const rows = document.querySelector(".rows");
  const button = box.querySelector("button");
  const status = box.querySelector("[role=status]");
  const label = button.querySelector("span");
  const live = label.textContent;
  const template = document.createElement("template");
  let source = null;
  let fresh = 0;

  function add(message) {
    if (document.getElementById(`d-${message.lastEventId}`)) return;
    template.innerHTML = message.data; // our own server's row, escaped there; the policy runs no script in it
    const row = template.content.firstElementChild;
    row.classList.add("fresh");
    rows.prepend(row);
    while (rows.children.length > 500) rows.lastElementChild.remove();
    document.querySelector(".nothing")?.remove();
    fresh += 1;
    if (fresh > 1) return;
    status.textContent = ""; // the same words once more are no change, and would not be read aloud
    setTimeout(announce, 1000); // one announcement for many
  }

  function announce() {
    status.textContent = fresh === 1 ? box.dataset.one : box.dataset.many.replace("{n}", fresh);
    fresh = 0;
  }

  function set(on) {
    source?.close();
    source = null;
    label.textContent = on ? live : box.dataset.paused;
    if (on) {
      const address = new URL(box.dataset.live, location.href);
      if (rows.firstElementChild) address.searchParams.set("after", rows.firstElementChild.dataset.id);
      source = new EventSource(address);
      source.onmessage = add;
      source.addEventListener("header", (event) => header(event.data));
      source.onopen = () => {
        box.dataset.state = "live";
        label.textContent = live;
      };
      source.onerror = () => {
        if (box.dataset.state !== "lost") status.textContent = document.body.dataset.lost; // it is tried again and again
        box.dataset.state = "lost";
        label.textContent = box.dataset.gone;
      };
    }
    button.setAttribute("aria-pressed", String(on));
  }

  button.hidden = false;
  button.addEventListener("click", () => set(source === null));
  addEventListener("pagehide", () => set(false));
  addEventListener("pageshow", (event) => event.persisted && set(true));
  set(true);
}

// The count of what waits and the state of the switch. The live connection reports a change of them; every page fetches
// them when it comes into view. The links stay, and with them the focus.
async function header(now) {
  const box = document.querySelector("[data-header]");
  if (!box || box.dataset.header === now) return;
  const answer = await fetch("/switch").catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-header]");
  box.dataset.header = fresh.dataset.header;
  const links = fresh.querySelectorAll("a");
  box.querySelectorAll("a").forEach((link, index) => {
    link.className = links[index].className;
    if (link.innerHTML !== links[index].innerHTML) link.innerHTML = links[index].innerHTML;
  });
}

// The board is drawn anew when something happened, at most once a second and never below somebody's finger. A session
// that came to another state is read aloud by its name.
function board(box) {
  const status = document.getElementById("board-news");
  let states = read(box);
  let due = false;
  let held = false; // something else is to be drawn, and the focus is in the board

  function read(from) {
    return new Map([...from.querySelectorAll("[data-session]")].map((one) => [one.dataset.session, {
      state: one.className, text: `${one.querySelector(".name").textContent}: ${one.querySelector(".state").textContent}`,
    }]));
  }

  function announce(fresh) {
    const changed = [...fresh].filter(([key, one]) => one.state !== states.get(key)?.state).map(([, one]) => one.text);
    states = fresh;
    if (!changed.length) return;
    status.textContent = ""; // the same words once more are no change, and would not be read aloud
    const words = changed.length > 3 ? status.dataset.many.replace("{n}", changed.length) : changed.join(", ");
    setTimeout(() => { status.textContent = words; }, 100);
  }

  async function draw() {
    due = false;
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("[data-board]");
    announce(read(fresh));
    held = box.contains(document.activeElement) && box.innerHTML !== fresh.innerHTML;
    if (!held && box.innerHTML !== fresh.innerHTML) box.innerHTML = fresh.innerHTML; // who reads it aloud keeps the place
  }

  const later = () => { if (!due) { due = true; setTimeout(draw, 1000); } };
  const source = new EventSource("/live");
  source.onmessage = later;
  source.addEventListener("header", (event) => header(event.data));
  box.addEventListener("focusout", () => held && later());
  addEventListener("pagehide", () => source.close());
}

// On a narrow screen the filters make room for what they leave, unless one of them counts.
function fold(box) {
  const narrow = matchMedia("(max-width: 46rem)");
  const set = () => { box.open = !narrow.matches || location.search !== ""; };
  narrow.addEventListener("change", set);
  set();
}

// The Tab key stops at a text that scrolls, so that keys can scroll it, and passes by one that is shown whole.
function stops() {
  document.querySelectorAll("pre").forEach((one) => {
    if (one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  });
}

// Forms go by fetch: under `no-referrer` a browser sends a form without saying that it is ours, and the guard refuses it.
async function send(event) {
  const form = event.target;
  if (form.method !== "post") return;
  event.preventDefault();
  if (form.getAttribute("aria-busy")) return; // pressed twice
  const body = new URLSearchParams(new FormData(form, event.submitter)).toString();
  form.setAttribute("aria-busy", "true");
  const answer = await fetch(form.action, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body,
  }).catch(() => null);
  form.removeAttribute("aria-busy");
  if (!answer) return lost(form);
  if (answer.redirected && !form.dataset.stays) return location.replace(answer.url);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.querySelector("main").replaceWith(page.querySelector("main"));
  stops();
  (document.getElementById(form.dataset.stays || form.dataset.shows) ?? document.querySelector("main")).focus(); // what came out is in view, and read aloud
}

function lost(form) {
  const note = form.querySelector("[role=alert]") ?? form.appendChild(document.createElement("p"));
  note.setAttribute("role", "alert");
  note.textContent = document.body.dataset.lost;
}

function search() {
  document.querySelector("[data-filtering]")?.setAttribute("open", "");
  document.querySelector("[data-search]")?.focus();
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const links = [...document.querySelectorAll(".rows .row, .moment a, .card")];
  const current = links.indexOf(document.activeElement);
  if (event.key === "/") search();
  else if (event.key === "j") links[current + 1]?.focus();
  else if (event.key === "k" && current > 0) links[current - 1].focus();
  else return;
  event.preventDefault();
}

document.querySelector("[data-done]")?.focus(); // what was done just before, on the page that follows
if (document.body.hasAttribute("data-enter")) enter();
stops();
document.querySelectorAll("[data-filtering]").forEach(fold);
document.querySelectorAll("[data-live]").forEach(follow);
document.querySelectorAll("[data-board]").forEach(board);
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && header());
document.addEventListener("toggle", stops, true); // it does not bubble
addEventListener("resize", stops);
addEventListener("submit", send);
addEventListener("keydown", keys);
