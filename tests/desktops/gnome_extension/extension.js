// Tells the tests where the shell draws what: menus and notifications of GNOME are no windows of their own.
/* exported init */

const {Gio, Shell, St} = imports.gi;
const Main = imports.ui.main;

const INTERFACE = `<node><interface name="org.hooktray.tests.Where">
  <method name="Look"><arg type="s" direction="out"/></method>
  <method name="Picture"><arg type="s" direction="in"/></method>
  <method name="Titles"><arg type="as" direction="out"/></method>
</interface></node>`;

function isOnScreen(actor) {
    return actor.mapped && actor.get_paint_opacity() > 0;
}

function spot(actor, text) {
    const [x, y] = actor.get_transformed_position();
    const [width, height] = actor.get_transformed_size();
    return {text, x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height)};
}

function collect(actor, found) {
    if (!isOnScreen(actor))
        return;
    const text = actor instanceof St.Label ? actor.text : actor instanceof St.Button ? actor.label : null;
    if (text)
        found.push(spot(actor, text));
    actor.get_children().forEach(child => collect(child, found));
}

class Where {
    enable() {
        this._object = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
        this._object.export(Gio.DBus.session, '/org/hooktray/tests/Where');
        this._name = Gio.DBus.session.own_name('org.hooktray.tests.Where', Gio.BusNameOwnerFlags.NONE, null, null);
    }

    disable() {
        Gio.DBus.session.unown_name(this._name);
        this._object.unexport();
    }

    Look() {
        const labels = [];
        collect(global.stage, labels);
        const icons = Object.entries(Main.panel.statusArea)
            .filter(([name, actor]) => name.startsWith('appindicator-') && isOnScreen(actor.container))
            .map(([name, actor]) => spot(actor.container, name));
        const ready = !Main.layoutManager._startingUp && !Main.overview.visible;
        return JSON.stringify({labels, icons, ready});
    }

    // On Wayland nobody else may take pictures and read titles.
    PictureAsync([path], invocation) {
        const stream = Gio.File.new_for_path(path).replace(null, false, Gio.FileCreateFlags.NONE, null);
        const camera = new Shell.Screenshot();
        camera.screenshot(false, stream, (_, result) => {
            camera.screenshot_finish(result);
            stream.close(null);
            invocation.return_value(null);
        });
    }

    Titles() {
        return global.get_window_actors().map(actor => actor.meta_window.title || '');
    }
}

function init() {
    return new Where();
}
