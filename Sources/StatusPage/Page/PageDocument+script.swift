// SPDX-License-Identifier: Apache-2.0

extension PageDocument {
  /// What the page shows, and when. `show` keeps what has not changed: nothing moves under a finger, and the focus stays
  /// where it is.
  static let script =
    tools + "\n" + #"""
      function router(home, item) {
        const line = make("li", item.online ? "" : "off",
          make("span", "name", item.name), " ",
          make("span", item.online ? "good" : "bad", item.online ? "online" : "offline"), " ",
          make("span", "dim", item.make || ""),
          make("div", "dim", "seen ", seen(item.seen)));
        for (const note of item.notes) line.append(make("div", "warn", note));
        const body = {home, border_agent_id: item.id};
        if (item.notes.includes("new here")) line.append(button("Accept", fullName(item), "/routers/accept", body));
        if (!item.online) line.append(button("Forget", fullName(item), "/routers/forget", body,
          "Forget " + fullName(item) + "? Its stored credentials are deleted."));
        return line;
      }
      function network(home, item, heading) {
        const title = make(heading, "", item.id ? item.name || "without a name" : "Without a network");
        if (item.preferred) title.append(make("span", "badge", "preferred"));
        else if (item.accepted) title.append(make("span", "badge", "accepted"));
        const list = make("ul", "routers", ...item.routers.map(one => router(home, one)));
        const facts = item.id ? make("p", "dim", item.id, item.channel ? ", channel " + item.channel : "") : null;
        const card = make("article", "card net" + (item.preferred ? " preferred" : ""), title, facts,
          item.routers.length ? list : make("p", "dim", "no border router"));
        if (!item.id) return card;
        const body = {home, ext_pan_id: item.id}, named = fullName(item);
        if (item.preferred)
          card.append(button("Forget", named, "/networks/forget", body,
            "Forget that " + named + " is the preferred network of " + home + "? Then no border router is checked, " +
            "until you prefer a network. It is kept in the history."));
        else
          card.append(
            button("Prefer", named, "/networks/prefer", body,
              "Make " + named + " the preferred network of " + home + "? All border routers are checked again."),
            button(item.accepted ? "Do not accept" : "Accept", named, "/networks/accept",
              {...body, accepted: !item.accepted}));
        return card;
      }
      function homes(list, isForced) {
        const several = list.length > 1;
        update(byId("homes").lastElementChild, list.map(home => home.name), name => name, name =>
          make("div", "", several ? make("h3", "", "Home ", name) : null, make("div", "grid"), make("p", "dim")));
        list.forEach((home, index) => {
          const box = byId("homes").lastElementChild.children[index];
          update(box.querySelector(".grid"), home.networks, item => item.id || "none",
            item => network(home.name, item, several ? "h4" : "h3"), isForced);
          box.lastElementChild.textContent = !home.networks.length ? "No border router is listed yet." :
            home.more ? "and " + home.more + " more border routers" : "";
        });
      }
      function alert(item) {
        return make("article", "card " + item.severity,
          make("h3", item.severity === "critical" ? "bad" : item.severity === "warning" ? "warn" : "",
            item.severity, ": ", item.name),
          make("p", "", item.summary), make("p", "", make("strong", "", "What to do: "), item.remedy),
          make("p", "dim", "since ", when(item.since)));
      }
      function consent(item) {
        const whose = item.requester + (item.fingerprint ? ", key " + item.fingerprint : "");
        return make("article", "card warning",
          make("h3", "", item.requester, " asks for ", item.networks.join(", ")),
          item.router ? make("p", "", "For the border router ", item.router) : null,
          make("p", "", item.reason),
          item.fingerprint ? make("p", "dim", "fingerprint of its key: ", item.fingerprint) : null,
          make("p", "dim", "expires ", when(item.expires)),
          button("Approve once", item.requester, "/consent/approve", {id: item.id}, "", "main"),
          button("Approve always", item.requester, "/consent/approve", {id: item.id, always: true},
            "Let " + whose + " have these credentials from now on, without asking again?"),
          button("Deny", item.requester, "/consent/deny", {id: item.id}),
          mayChange ? null : make("p", "dim", "Decide with `threadkeeper consent`, or " +
            (document.body.dataset.change === "proxy" ? "set `http.trusted_proxy_changes`, in the add-on `page_changes`." :
              "open the link of `threadkeeper page token`.")));
      }
      function part(item) {
        return make("div", "part", make("dt", "", item.name),
          make("dd", item.state === "bad" ? "bad" : item.state === "off" ? "dim" : "good",
            item.text, item.remedy ? ". " + item.remedy : ""));
      }
      function event(item) {
        const details = Object.entries(item.details).map(pair => pair.join(": ")).join(", ");
        return make("li", "", when(item.at), " ", make("span", "name", item.text), " ", make("span", "dim", details));
      }
      // What the daemon leaves out it cannot read now; it stays as it was.
      let known = {homes: [], alerts: [], consents: []};
      // The timer of a button that is pressed; 0: none is.
      let pressed = 0;
      let isDue = false;
      function verdict(wrong, waiting) {
        const words = (wrong === 0 ? "All is well." : wrong === 1 ? "One thing is wrong." : wrong + " things are wrong.")
          + (waiting === 0 ? "" : waiting === 1 ? " One request waits for your consent." :
            " " + waiting + " requests wait for your consent.");
        // A screen reader reads it whenever it is set.
        if (byId("verdict").textContent !== words) byId("verdict").textContent = words;
        byId("verdict").className = wrong ? "bad" : waiting ? "warn" : "good";
      }
      function show(isForced) {
        isDue = pressed !== 0;
        if (isDue) return;
        const before = document.activeElement, key = before.dataset.key;
        const isGrave = item => item.severity !== "info";
        const broken = known.health.filter(item => item.state === "bad").length;
        verdict(known.alerts.filter(isGrave).length + broken, known.consents.length);
        fill("consents", known.consents, item => item.id, consent, isForced);
        fill("alerts", known.alerts.filter(isGrave), item => item.id, alert, isForced);
        fill("notices", known.alerts.filter(item => !isGrave(item)), item => item.id, alert, isForced);
        homes(known.homes, isForced);
        byId("health").lastElementChild.firstElementChild.replaceChildren(...known.health.map(part));
        byId("events").lastElementChild.replaceChildren(known.events.length ?
          make("ul", "events", ...known.events.map(event)) : make("p", "dim", "Nothing since the daemon started."));
        byId("version").textContent = "threadkeeper " + known.version;
        document.body.dataset.ready = "yes";
        if (!key || document.activeElement === before) return;
        const again = [...document.querySelectorAll("main button")].find(button => button.dataset.key === key);
        (again || byId("main")).focus({preventScroll: true});
      }
      function take(text) {
        known = {...known, ...JSON.parse(text)};
        show();
      }
      // A button that is replaced between press and release is not clicked.
      function release() {
        clearTimeout(pressed);
        pressed = 0;
        if (isDue) setTimeout(show);
      }
      addEventListener("pointerdown", event => {
        if (!event.isPrimary || event.button !== 0 || !event.target.closest("button")) return;
        clearTimeout(pressed);
        // Not every press ends with an event that says so.
        pressed = setTimeout(release, 3000);
      });
      for (const name of ["pointerup", "pointercancel", "contextmenu", "dragend", "blur", "visibilitychange"])
        addEventListener(name, release);
      let last = byId("first").textContent;
      if (last) take(last);
      const source = new EventSource("./events");
      source.addEventListener("state", message => {
        byId("away").hidden = true;
        if (message.data === last) return;
        last = message.data;
        take(last);
      });
      source.addEventListener("error", async () => {
        byId("away").hidden = false;
        if (source.readyState !== EventSource.CLOSED) return;
        // The browser gives up after an answer that is no stream: too many viewers, another token, or a proxy whose
        // daemon is away.
        // Not HEAD, which not every proxy passes on.
        const {ok, status, body} = await fetch("./").catch(() => ({ok: false, status: 0}));
        if (body) body.cancel();
        // Loaded again, the page says what it needs.
        if (status === 401) return location.reload();
        if (ok) byId("away").textContent = "The page does not follow: too many pages are open. It tries again in half a minute.";
        setTimeout(() => location.reload(), ok ? 30000 : 5000);
      });
      // The times on it go on.
      setInterval(() => { if (last) show(true); }, 60000);
      """#
}
