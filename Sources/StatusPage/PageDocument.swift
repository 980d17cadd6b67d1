/// The status page: one document without anything from elsewhere. What it shows comes by `/events`. Every address in it
/// is relative: a proxy may have the page below a path of its own.
package enum PageDocument {
  /// - Parameters:
  ///   - nonce: of the policy that allows its style and its script, and nothing else.
  ///   - mayChange: whether it offers what changes something.
  ///   - isThroughProxy: whether the trusted proxy shows it, so that no link with the token leads there.
  ///   - address: where programs find the page that the proxy does not let in, such as Home Assistant.
  ///   - state: JSON of what it shows at first, so that nobody waits for the first event; nil where there is none.
  static func html(
    nonce: String, mayChange: Bool, isThroughProxy: Bool = false, address: String? = nil, state: [UInt8]? = nil
  ) -> String {
    """
    \(head(nonce))
    <body data-change="\(mayChange ? "yes" : isThroughProxy ? "proxy" : "no")" data-address="\(address ?? "")">
    <a class="skip" href="#main">Skip to the content</a>
    <header>
    <h1>threadkeeper</h1>
    <div id="verdict" role="status"><span class="sign" aria-hidden="true"></span><div><p class="lead">Loading …</p></div></div>
    </header>
    <p id="away" role="alert" hidden>The daemon does not answer. This page shows what was last known, and tries again.</p>
    <div id="outcome" role="status" tabindex="-1"></div>
    <noscript><p>This page needs JavaScript. <code>threadkeeper status</code> shows the same.</p></noscript>
    <main id="main" tabindex="-1">
    <section id="one" aria-labelledby="h-one" hidden><p><a class="back" href="#">All border routers</a></p>\
    <div class="head"><h2 id="h-one"></h2>\(mayChange ? renaming : "")</div><div id="one-alerts"><div></div></div>\
    <div id="one-facts"><div></div></div><div id="one-ended"><h3>Its past alerts</h3><ul class="events"></ul></div></section>
    <section id="consents" aria-labelledby="h-consents" hidden><h2 id="h-consents">Requests for your consent</h2><div></div></section>
    <section id="alerts" aria-labelledby="h-alerts" hidden><h2 id="h-alerts">What is wrong</h2><div></div></section>
    <section id="protection" aria-labelledby="h-protection" hidden><h2 id="h-protection">Until your home is protected</h2><div></div></section>
    <section id="notices" aria-labelledby="h-notices" hidden><h2 id="h-notices">Worth knowing</h2><div></div></section>
    <section id="homes" aria-labelledby="h-homes"><h2 id="h-homes">Networks and border routers</h2><div></div></section>
    \(bringing(mayChange))<section id="ended" aria-labelledby="h-ended" hidden><h2 id="h-ended">Past alerts</h2><ul class="events"></ul></section>
    <section id="health" aria-labelledby="h-health"><h2 id="h-health">Health of the daemon</h2><div><dl></dl></div></section>
    <section id="events" aria-labelledby="h-events"><h2 id="h-events">Recent events</h2><div></div></section>
    </main>
    <footer>
    <p class="dim small">Blueprints for Home Assistant: paste an address in <i>Settings → Automations &amp; scenes → \
    Blueprints → Import blueprint</i></p>
    <p class="small"><code data-blueprint="threadkeeper-alerts"></code></p>
    <p class="small"><code data-blueprint="threadkeeper-consent"></code></p>
    <p id="version" class="dim small"></p>
    </footer>
    <template id="router"><svg viewBox="0 0 24 24" aria-hidden="true"><rect x="3" y="13" width="18" height="7" rx="2"/>\
    <path d="M7 16.5h.01M11 16.5h.01M17 13V9M14 7.5a4 4 0 0 1 6 0M11.5 5a7.5 7.5 0 0 1 11 0"/></svg></template>
    <script nonce="\(nonce)" id="first" type="application/json">\(embedded(state))</script>
    <script nonce="\(nonce)">\(script)</script>
    </body>
    </html>

    """
  }

  /// How credentials come here: in the step that lacks them, and later for another network.
  private static func bringing(_ mayChange: Bool) -> String {
    """
    <section id="join" aria-labelledby="h-join" hidden><h2 id="h-join">Another network</h2><details class="card">\
    <summary data-key="join">Join by its code</summary><div id="bring">\(mayChange ? joining : "")\
    <details class="makers"><summary data-key="makers">Where do I find the code?</summary><ul class="rows small">\
    <li>Google: a Google TV Streamer shows it.</li><li>Apple: from iOS and tvOS 27, in apps that share it.</li>\
    <li>Samsung: its border routers show it.</li><li>OpenThread: <code>ot-ctl ba ephemeralkey start \
    CODE</code>, or <code>threadkeeper networks share</code>.</li><li>Amazon: none is known. Take \
    another router of the same network, or your phone.</li></ul></details>\
    <details><summary data-key="phone">From my phone, through Home Assistant</summary><ol class="way small">\
    <li>In its app, in the Wi-Fi of the routers: <i>Settings → Devices &amp; services → Thread → Configure</i>.</li>\
    <li>iPhone: <i>Send credentials to Home Assistant</i>. Android: <i>Import credentials</i>.</li>\
    <li>There, <i>Make preferred network</i> for yours.</li><li>The add-on brings them here. Without it, \
    <code>sudo threadkeeper setup</code> makes the agent that does.</li><li>You are asked here: <i>Use them</i>.</li>\
    </ol></details><p class="command small dim">Who has its dataset as text stores it with \
    <code>threadkeeper preferred set</code>.</p></div></details></section>

    """
  }

  /// The field for the code that a border router shows.
  private static let joining = """
    <form><label>Code of nine digits <input class="code" name="code" inputmode="numeric" autocomplete="off" \
    maxlength="20" data-key="code" required></label> <button class="main send" data-key="send" \
    aria-label="Join by code">Join</button></form>
    """

  /// The field for the name of a border router.
  private static let renaming = """
    <form id="rename"><label>Name <input name="name" autocomplete="off" maxlength="128"></label> \
    <button class="send">Rename</button></form>
    """

  /// Bytes of a first state; a larger one comes by the first event, so that the page stays below 90 kB.
  private static let largestState = 28_000

  /// JSON that cannot end the element it stands in: `<` is only in its texts, where it may be escaped. By bytes: as a
  /// Character, a `<` may be one with what is before it.
  private static func embedded(_ state: [UInt8]?) -> String {
    guard let state, state.count <= largestState else { return "" }
    let escaped = state.flatMap { $0 == UInt8(ascii: "<") ? Array(#"\u003c"#.utf8) : [$0] }
    return String(decoding: escaped, as: UTF8.self)
  }

  private static func head(_ nonce: String) -> String {
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
    """
  }

  /// What a browser without the token gets: a field for a code. It needs no script.
  static func codeForm(nonce: String, problem: String?) -> String {
    """
    \(head(nonce))
    <body>
    <header><h1>threadkeeper</h1></header>
    <main>
    <form class="card" method="post" action="./">
    \(problem.map { "<p class=\"bad\" id=\"problem\" role=\"alert\">\($0)</p>\n" } ?? "")\
    <label>Type the code that <code>threadkeeper page code</code> prints <input class="code" name="code" \
    inputmode="numeric" autocomplete="one-time-code" maxlength="20" required autofocus\
    \(problem == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"problem\"")></label> \
    <button class="main">Open</button>
    <p class="dim small">Run the command on the daemon's machine. Its code has \(PageCode.length) digits, and is valid \
    for \(PageCode.minutes) minutes, and once. The link that <code>threadkeeper page token</code> prints always \
    works.</p>
    </form>
    </main>
    </body>
    </html>

    """
  }

  /// Leads on to the page, without the token in its address.
  static let exchange = """
    <!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=./">\
    <title>threadkeeper</title><p><a href="./">Open the page</a></p></html>

    """

  /// The policy of the document with this nonce.
  ///
  /// - Parameters:
  ///   - isFramed: whether pages of the same origin may show it in a frame.
  ///   - formAction: where its forms may be sent.
  static func policy(nonce: String, isFramed: Bool = false, formAction: String = "none") -> String {
    "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
      + "img-src data:; base-uri 'none'; form-action '\(formAction)'; frame-ancestors '\(isFramed ? "self" : "none")'"
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
  /// Text has a contrast of at least 4.5 to 1 in both schemes (WCAG 2.2, 1.4.3); see `PageDocumentTests`. `bad` and
  /// `warn` are for what is wrong, and for nothing else.
  package static let style = text(PackageResources.page_css)

  /// Everything that comes from the daemon becomes text, never markup. `show` keeps what has not changed: nothing moves
  /// under a finger, and the focus stays where it is.
  static let script = text(PackageResources.page_js)

  /// A file of `Resources`, which is built into the program, without its last line end.
  private static func text(_ file: [UInt8]) -> String { String(decoding: file.dropLast(), as: UTF8.self) }
}
