// SPDX-License-Identifier: Apache-2.0

/// The status page: one document without anything from elsewhere. What it shows comes by `/events`. Every address in it
/// is relative: a proxy may have the page below a path of its own.
package enum PageDocument {
  /// - Parameters:
  ///   - nonce: of the policy that allows its style and its script, and nothing else.
  ///   - mayChange: whether it offers what changes something.
  ///   - isThroughProxy: whether the trusted proxy shows it, so that no link with the token leads there.
  ///   - state: JSON of what it shows at first, so that nobody waits for the first event; nil where there is none.
  static func html(
    nonce: String, mayChange: Bool, isThroughProxy: Bool = false, state: [UInt8]? = nil
  ) -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>threadkeeper</title>
    <link rel="icon" href="data:,">
    <style nonce="\(nonce)">\(style)</style>
    </head>
    <body data-change="\(mayChange ? "yes" : isThroughProxy ? "proxy" : "no")">
    <a class="skip" href="#main">Skip to the content</a>
    <header>
    <h1>threadkeeper</h1>
    <div id="verdict" role="status"><span class="sign" aria-hidden="true"></span><div><p class="lead">Loading …</p></div></div>
    </header>
    <p id="away" role="alert" hidden>The daemon does not answer. This page shows what was last known, and tries again.</p>
    <p id="outcome" role="status"></p>
    <noscript><p>This page needs JavaScript. <code>threadkeeper status</code> shows the same.</p></noscript>
    <main id="main" tabindex="-1">
    <section id="consents" aria-labelledby="h-consents" hidden><h2 id="h-consents">Requests for your consent</h2><div></div></section>
    <section id="homes" aria-labelledby="h-homes"><h2 id="h-homes">Networks and border routers</h2><div></div></section>
    <section id="alerts" aria-labelledby="h-alerts" hidden><h2 id="h-alerts">What is wrong</h2><div></div></section>
    <section id="notices" aria-labelledby="h-notices" hidden><h2 id="h-notices">Worth knowing</h2><div></div></section>
    <section id="health" aria-labelledby="h-health"><h2 id="h-health">Health of the daemon</h2><div><dl></dl></div></section>
    <section id="events" aria-labelledby="h-events"><h2 id="h-events">Recent events</h2><div></div></section>
    </main>
    <footer><p id="version" class="dim small"></p></footer>
    <template id="router"><svg viewBox="0 0 24 24" aria-hidden="true"><rect x="3" y="13" width="18" height="7" rx="2"/>\
    <path d="M7 16.5h.01M11 16.5h.01M17 13V9M14 7.5a4 4 0 0 1 6 0M11.5 5a7.5 7.5 0 0 1 11 0"/></svg></template>
    <script nonce="\(nonce)" id="first" type="application/json">\(embedded(state))</script>
    <script nonce="\(nonce)">\(script)</script>
    </body>
    </html>

    """
  }

  /// Bytes of a first state; a larger one comes by the first event, so that the page stays below 60 kB.
  private static let largestState = 28_000

  /// JSON that cannot end the element it stands in: `<` is only in its texts, where it may be escaped. By bytes: as a
  /// Character, a `<` may be one with what is before it.
  private static func embedded(_ state: [UInt8]?) -> String {
    guard let state, state.count <= largestState else { return "" }
    let escaped = state.flatMap { $0 == UInt8(ascii: "<") ? Array(#"\u003c"#.utf8) : [$0] }
    return String(decoding: escaped, as: UTF8.self)
  }

  /// Leads on to the page, without the token in its address.
  static let exchange = """
    <!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=./">\
    <title>threadkeeper</title><p><a href="./">Open the page</a></p></html>

    """

  /// The policy of the document with this nonce.
  ///
  /// - Parameter isFramed: whether pages of the same origin may show it in a frame.
  static func policy(nonce: String, isFramed: Bool = false) -> String {
    "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
      + "img-src data:; base-uri 'none'; form-action 'none'; "
      + "frame-ancestors '\(isFramed ? "self" : "none")'"
  }

  /// 128 bits for one document, in hexadecimal digits. The system's generator is one for cryptography.
  static func makeNonce() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(generator.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

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
      read: past => past < 120 ? "read just now" : "read last " + span(past) + " ago",
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
    function title(item) { return item.is_alike ? fullName(item) : item.name; }
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

extension PageDocument {
  /// Text has a contrast of at least 4.5 to 1 in both schemes (WCAG 2.2, 1.4.3); see `PageDocumentTests`. `bad` and
  /// `warn` are for what is wrong, and for nothing else.
  package static let style = """
    :root{color-scheme:light dark;--back:#f3f5f7;--card:#fff;--text:#1b1f24;--dim:#50575f;--line:#d3d9df;\
    --good:#136c2e;--bad:#a40e26;--warn:#7a4b00;--mark:#0b5cad;--on:#fff;\
    --goodtint:#e4f3e8;--badtint:#fdebed;--warntint:#fdf0d3;--marktint:#e6f0fa}
    @media (prefers-color-scheme:dark){:root{--back:#14171a;--card:#1f2428;--text:#e8ebee;--dim:#a9b1ba;\
    --line:#3d454d;--good:#6fd08c;--bad:#ff9a9f;--warn:#f0bd62;--mark:#7fbcff;--on:#10161c;\
    --goodtint:#17291d;--badtint:#38191d;--warntint:#332810;--marktint:#16273b}}
    *{box-sizing:border-box}
    body{margin:0 auto;max-width:68rem;padding:0 1rem 2rem;background:var(--back);color:var(--text);\
    font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
    h1{font-size:.9rem;font-weight:600;margin:.75rem 0 .4rem;color:var(--dim)}
    h2{font-size:1.1rem;margin:1.75rem 0 .5rem}h3,h4{font-size:1.05rem;margin:0}
    p{margin:.25rem 0}ul,dl{list-style:none;margin:0;padding:0}
    .skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--back)}
    a,.link{color:var(--mark)}code{font-size:.92em;background:var(--back);border-radius:.25rem;padding:0 .2em}
    :focus-visible{outline:3px solid var(--mark);outline-offset:2px}
    .dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
    .small{font-size:.875rem}.name{font-weight:600}
    #verdict{display:flex;gap:.9rem;align-items:center;border-radius:.75rem;padding:.9rem 1rem;\
    background:var(--marktint);color:var(--mark)}
    #verdict.good{background:var(--goodtint);color:var(--good)}
    #verdict.warn{background:var(--warntint);color:var(--warn)}
    #verdict.bad{background:var(--badtint);color:var(--bad)}
    #verdict p{margin:0}.lead{font-size:1.25rem;font-weight:650;line-height:1.3}
    .sign{flex:none;width:2.25rem;height:2.25rem;border-radius:50%;background:currentColor;display:grid;\
    place-items:center}
    .sign::before{content:"?";color:var(--card);font-weight:700;font-size:1.3rem}
    .good .sign::before{content:"\\2713"}.warn .sign::before,.bad .sign::before{content:"!"}
    #away{border:2px solid var(--bad);color:var(--bad);padding:.5rem .75rem;border-radius:.5rem}
    .grid{display:grid;gap:.75rem;align-items:start;\
    grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr))}
    .card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:.9rem 1rem}
    section>div>.card{margin-bottom:.6rem}
    .critical,.warning,.ask{border-left:.35rem solid var(--bad)}.warning{border-left-color:var(--warn)}
    .ask{border-left-color:var(--mark)}
    .net.preferred{border:2px solid var(--mark)}
    .head{display:flex;flex-wrap:wrap;align-items:baseline;gap:.1rem .5rem}
    .badge{border-radius:1rem;padding:0 .6rem;font-size:.8rem;font-weight:600;background:var(--marktint);\
    color:var(--mark)}
    .mesh{display:grid;grid-template-columns:repeat(auto-fill,minmax(5.75rem,1fr));gap:.75rem 0;\
    margin:.75rem 0 .25rem}
    .mesh li{position:relative;text-align:center;padding:0 .25rem;line-height:1.25}
    .mesh li::before{content:"";position:absolute;top:1.3rem;left:0;right:0;border-top:2px solid var(--line)}
    .mesh li:first-child::before{left:50%}.mesh li:last-child::before{right:50%}
    .mesh li.off::before{border-top-style:dashed}
    .dot{position:relative;display:block;width:2.75rem;height:2.75rem;margin:0 auto .3rem;border-radius:50%;\
    background:var(--card);border:2px solid var(--good);color:var(--good);padding:.5rem}
    .off .dot{border-color:var(--dim);color:var(--dim);border-style:dashed}
    .fault .dot{border-color:var(--warn);color:var(--warn);border-width:3px}
    .fault.grave .dot{border-color:var(--bad);color:var(--bad)}
    .fault .dot::after{content:"!";position:absolute;top:-.5rem;right:-.5rem;width:1.3rem;height:1.3rem;\
    border-radius:50%;background:var(--warn);color:var(--on);font-weight:700;font-size:.9rem;line-height:1.3rem}
    .fault.grave .dot::after{background:var(--bad)}
    .dot svg{display:block;width:100%;height:100%;fill:none;stroke:currentColor;stroke-width:2;\
    stroke-linecap:round;stroke-linejoin:round}
    .mesh .name{display:block;font-size:.9rem}
    .mesh .state{display:block;font-size:.8rem}
    .rows li{padding:.4rem 0;border-top:1px solid var(--line)}.rows button{display:block}
    details{margin-top:.5rem}summary{color:var(--mark);cursor:pointer;min-height:1.75rem}
    .part{display:flex;gap:1rem;padding:.15rem 0}dt{font-weight:600;min-width:8.5rem}dd{margin:0}
    .events li{display:flex;flex-wrap:wrap;gap:0 .75rem;padding:.35rem 0;border-bottom:1px solid var(--line)}
    .events time{flex:none;min-width:7.5rem}.events span{flex:1 1 15rem}
    button{font:inherit;min-height:2.75rem;padding:.25rem .9rem;margin:.5rem .5rem 0 0;border-radius:.5rem;\
    border:1px solid var(--mark);background:var(--card);color:var(--mark);cursor:pointer}
    button.main{background:var(--mark);color:var(--on)}button:disabled{opacity:.6}
    footer{margin-top:1.5rem}
    @media (prefers-reduced-motion:no-preference){button:hover{filter:brightness(1.1)}}
    """
}
