// SPDX-License-Identifier: Apache-2.0

extension PageDocument {
  /// Everything that comes from the daemon becomes text, never markup.
  static let script = #"""
    "use strict";
    const byId = id => document.getElementById(id);
    const mayChange = document.body.dataset.change === "yes";
    function make(tag, className, ...content) {
      const element = document.createElement(tag);
      if (className) element.className = className;
      element.append(...content.filter(part => part !== null && part !== undefined));
      return element;
    }
    function when(text) {
      const time = new Date(text), seconds = Math.round((time - Date.now()) / 1000);
      const steps = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
      const [unit, size] = steps.find(step => Math.abs(seconds) >= step[1]) || steps[3];
      const words = new Intl.RelativeTimeFormat("en", {numeric: "auto"}).format(Math.trunc(seconds / size), unit);
      const element = make("time", "dim", words);
      element.dateTime = text;
      element.title = time.toLocaleString();
      return element;
    }
    // It is said to the minute.
    function seen(text) {
      return Date.now() - new Date(text) < 120000 ? "just now" : when(text);
    }
    function fill(id, nodes, hide) {
      const section = byId(id);
      section.lastElementChild.replaceChildren(...nodes);
      if (hide) section.hidden = nodes.length === 0;
    }
    async function change(path, body, question) {
      if (question && !confirm(question)) return;
      const said = byId("said");
      try {
        const answer = await fetch(path, {method: "POST", credentials: "same-origin",
          headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
        const words = await answer.json();
        said.className = answer.ok ? "good" : "bad";
        said.textContent = words.message + (words.remedy ? " " + words.remedy : "");
      } catch {
        said.className = "bad";
        said.textContent = "The daemon does not answer.";
      }
    }
    function button(label, about, path, body, question, className) {
      if (!mayChange) return null;
      const element = make("button", className || "", label);
      element.type = "button";
      element.setAttribute("aria-label", label + ": " + about);
      element.addEventListener("click", () => change(path, body, question));
      return element;
    }
    function router(home, item) {
      const line = make("li", item.online ? "" : "off",
        make("span", "name", item.name), " ",
        make("span", item.online ? "good" : "bad", item.online ? "online" : "offline"), " ",
        make("span", "dim", item.make || ""),
        make("div", "dim", "seen ", seen(item.seen)));
      for (const note of item.notes) line.append(make("div", "warn", note));
      const body = {home, border_agent_id: item.id};
      if (item.notes.includes("new here"))
        line.append(button("Accept", item.name, "/routers/accept", body) || "");
      if (!item.online) line.append(button("Forget", item.name, "/routers/forget", body,
        "Forget " + item.name + "? Its stored credentials are deleted.") || "");
      return line;
    }
    function network(home, item) {
      const title = make("h3", "", item.id ? item.name || "without a name" : "Without a network");
      if (item.preferred) title.append(make("span", "badge", "preferred"));
      else if (item.accepted) title.append(make("span", "badge", "accepted"));
      const list = make("ul", "routers", ...item.routers.map(one => router(home, one)));
      const facts = item.id ? make("p", "dim", item.id, item.channel ? ", channel " + item.channel : "") : null;
      const card = make("article", "card net" + (item.preferred ? " preferred" : ""), title, facts,
        item.routers.length ? list : make("p", "dim", "no border router"));
      if (item.id && !item.preferred) {
        const body = {home, ext_pan_id: item.id};
        card.append(
          button("Prefer", item.name, "/networks/prefer", body,
            "Make " + item.name + " the preferred network? All border routers are checked again.") || "",
          button(item.accepted ? "Do not accept" : "Accept", item.name, "/networks/accept",
            {...body, accepted: !item.accepted}) || "");
      }
      return card;
    }
    function homes(state) {
      return state.homes.map(home => {
        const box = make("div", "");
        if (state.homes.length > 1) box.append(make("h3", "", "Home ", home.name));
        box.append(make("div", "grid", ...home.networks.map(item => network(home.name, item))));
        if (!home.networks.length) box.append(make("p", "dim", "No border router is listed yet."));
        if (home.more) box.append(make("p", "dim", "and " + home.more + " more border routers"));
        return box;
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
      return make("article", "card warning",
        make("h3", "", item.requester, " asks for ", item.networks.join(", ")),
        make("p", "", item.reason), make("p", "dim", "expires ", when(item.expires)),
        button("Approve once", item.requester, "/consent/approve", {id: item.id}, "", "main"),
        button("Approve always", item.requester, "/consent/approve", {id: item.id, always: true},
          "Let " + item.requester + " have these credentials from now on, without asking again?"),
        button("Deny", item.requester, "/consent/deny", {id: item.id}),
        mayChange ? null : make("p", "dim", "Decide with `threadkeeper consent`, or open the link of `threadkeeper page token`."));
    }
    function part(item) {
      return [make("dt", "", item.name),
        make("dd", item.state === "bad" ? "bad" : item.state === "off" ? "dim" : "good",
          item.text, item.remedy ? ". " + item.remedy : "")];
    }
    function event(item) {
      const details = Object.entries(item.details).map(pair => pair.join(": ")).join(", ");
      return make("li", "", when(item.at), " ", make("span", "name", item.text), " ", make("span", "dim", details));
    }
    function show(state) {
      const wrong = state.alerts.filter(item => item.severity !== "info").length;
      const broken = state.health.filter(item => item.state === "bad").length;
      const isWell = wrong + broken === 0;
      const verdict = byId("verdict");
      verdict.textContent = isWell ? "All is well." : wrong + broken === 1 ? "One thing is wrong." :
        wrong + broken + " things are wrong.";
      verdict.className = isWell ? "good" : "bad";
      fill("consents", state.consents.map(consent), true);
      fill("alerts", state.alerts.map(alert), true);
      fill("homes", homes(state));
      fill("health", [make("dl", "", ...state.health.flatMap(part))]);
      fill("events", [state.events.length ? make("ul", "events", ...state.events.map(event)) :
        make("p", "dim", "Nothing since the daemon started.")]);
      byId("version").textContent = "threadkeeper " + state.version;
      document.body.dataset.ready = "yes";
    }
    let last = byId("first").textContent;
    if (last) show(JSON.parse(last));
    const source = new EventSource("/events");
    source.addEventListener("state", message => {
      byId("away").hidden = true;
      if (message.data === last) return;
      last = message.data;
      show(JSON.parse(last));
    });
    source.addEventListener("error", () => {
      byId("away").hidden = false;
      // The browser gives up after an answer that is no stream, as from a proxy whose daemon is away.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
    });
    setInterval(() => { if (last && !document.activeElement.closest("main button")) show(JSON.parse(last)); }, 60000);
    """#
}
