// SPDX-License-Identifier: Apache-2.0

extension PageDocument {
  /// The first part of the script: making elements, replacing those that have changed, and asking for a change.
  /// Everything that comes from the daemon becomes text, never markup.
  static let tools = #"""
    "use strict";
    const byId = id => document.getElementById(id);
    const mayChange = document.body.dataset.change === "yes";
    function make(tag, className, ...content) {
      const element = document.createElement(tag);
      if (className) element.className = className;
      element.append(...content.filter(part => part !== null && part !== undefined));
      return element;
    }
    // A text of the daemon's: what stands between back-ticks is typed at a terminal.
    function words(text) {
      return text.split("`").map((part, index) => index % 2 ? make("code", "", part) : part);
    }
    function stop(text) { return /[.?!]$/.test(text) ? text : text + "."; }
    function sentence(text) { return make("span", "", ...words(stop(text))); }
    function count(number, one, many) { return number + " " + (number === 1 ? one : many); }
    function span(seconds) {
      const [unit, size] = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]]
        .find(step => seconds >= step[1]) || ["second", 1];
      return count(Math.floor(seconds / size), unit, unit + "s");
    }
    const forms = {
      ago: past => past < 60 ? "just now" : span(past) + " ago",
      for: past => past < 60 ? "since just now" : "for " + span(past),
      left: past => past > -1 ? "Its time is over." : "Waits for " + span(-past) + " more.",
      // To the minute.
      seen: past => past < 120 ? "seen just now" : "seen " + span(past) + " ago",
    };
    function tick(element) {
      const text = forms[element.dataset.form]((Date.now() - new Date(element.dateTime)) / 1000);
      if (element.textContent !== text) element.textContent = text;
    }
    function when(text, form, className) {
      const element = make("time", className || "dim");
      element.dateTime = text;
      element.dataset.form = form;
      element.title = new Date(text).toLocaleString();
      tick(element);
      return element;
    }
    // What tells it from another one of the same name.
    function fullName(item) {
      return item.name && item.name !== item.id ? item.name + " (" + item.id + ")" : item.id;
    }
    const drawn = new WeakMap();
    // Draws those items again that have changed, each under its key.
    function update(box, items, keyOf, draw) {
      const before = new Map([...box.children].map(node => [node.dataset.item, node])), shown = new Set();
      items.forEach((item, index) => {
        const key = keyOf(item), text = JSON.stringify(item);
        let node = before.get(key);
        before.delete(key);
        if (!node || drawn.get(node) !== text) {
          const fresh = draw(item), details = fresh.querySelector("details");
          fresh.dataset.item = key;
          drawn.set(fresh, text);
          if (details) details.open = Boolean(node && node.querySelector("details[open]"));
          if (node) node.replaceWith(fresh);
          node = fresh;
        }
        shown.add(node);
        if (box.children[index] !== node) box.insertBefore(node, box.children[index] || null);
      });
      for (const node of [...box.children]) if (!shown.has(node)) node.remove();
    }
    function fill(id, items, keyOf, draw) {
      const section = byId(id);
      section.hidden = items.length === 0;
      update(section.lastElementChild, items, keyOf, draw);
    }
    async function change(path, body, question) {
      if (question && !confirm(question)) return;
      const outcome = byId("outcome");
      try {
        const answer = await fetch("." + path, {method: "POST", credentials: "same-origin",
          headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
        const answerBody = await answer.json();
        outcome.className = answer.ok ? "good" : "bad";
        outcome.replaceChildren(sentence(answerBody.message), " ", ...words(answerBody.remedy || ""));
      } catch {
        outcome.className = "bad";
        outcome.textContent = "The daemon does not answer.";
      }
    }
    function button(label, about, path, body, question, className) {
      if (!mayChange) return "";
      const element = make("button", className || "", label);
      element.type = "button";
      element.dataset.key = path + JSON.stringify(body);
      element.setAttribute("aria-label", label + ": " + about);
      element.addEventListener("click", () => change(path, body, question));
      return element;
    }
    """#
}
