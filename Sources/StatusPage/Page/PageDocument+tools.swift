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
    // To the minute; without a time it is seen on the local network.
    function seen(text) {
      return !text || Date.now() - new Date(text) < 120000 ? "just now" : when(text);
    }
    // What tells it from another one of the same name.
    function fullName(item) {
      return item.name && item.name !== item.id ? item.name + " (" + item.id + ")" : item.id;
    }
    const drawn = new WeakMap();
    // Draws those items anew that have changed, each under its key.
    function update(box, items, keyOf, draw, isForced) {
      const before = new Map([...box.children].map(node => [node.dataset.item, node])), shown = new Set();
      items.forEach((item, index) => {
        const key = keyOf(item), text = JSON.stringify(item);
        let node = before.get(key);
        before.delete(key);
        if (!node || isForced || drawn.get(node) !== text) {
          const fresh = draw(item);
          fresh.dataset.item = key;
          drawn.set(fresh, text);
          if (node) node.replaceWith(fresh);
          node = fresh;
        }
        shown.add(node);
        if (box.children[index] !== node) box.insertBefore(node, box.children[index] || null);
      });
      for (const node of [...box.children]) if (!shown.has(node)) node.remove();
    }
    function fill(id, items, keyOf, draw, isForced) {
      const section = byId(id);
      section.hidden = items.length === 0;
      update(section.lastElementChild, items, keyOf, draw, isForced);
    }
    async function change(path, body, question) {
      if (question && !confirm(question)) return;
      const outcome = byId("outcome");
      try {
        const answer = await fetch("." + path, {method: "POST", credentials: "same-origin",
          headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
        const words = await answer.json();
        outcome.className = answer.ok ? "good" : "bad";
        outcome.textContent = words.message + (words.remedy ? " " + words.remedy : "");
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
