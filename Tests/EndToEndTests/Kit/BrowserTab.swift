import Foundation
import TestKit
import Testing

/// A page in the browser, as a person has it, with cookies of its own. It goes with this object.
final class BrowserTab: Sendable {
  /// A key of the keyboard: https://www.w3.org/TR/uievents-key/
  enum Key: String {
    case tab = "Tab"
    case enter = "Enter"
    case space = " "

    /// `windowsVirtualKeyCode` of the protocol.
    var code: Int {
      switch self {
      case .tab: 9
      case .enter: 13
      case .space: 32
      }
    }

    var text: String? {
      switch self {
      case .tab: nil
      case .enter: "\\r"
      case .space: " "
      }
    }
  }

  private let browser: Browser
  private let context: String
  private let session: String

  init(width: Int = 1_000, height: Int = 900) async throws {
    browser = try Browser.shared.get()
    context = try #require(try await browser.call("Target.createBrowserContext")["browserContextId"]?.text)
    let target = try await browser.call(
      "Target.createTarget", #"{"url":"about:blank","browserContextId":"\#(context)"}"#)
    let id = try #require(target["targetId"]?.text)
    let attached = try await browser.call("Target.attachToTarget", #"{"targetId":"\#(id)","flatten":true}"#)
    session = try #require(attached["sessionId"]?.text)
    try await call("Page.enable")
    // Others have the focus of the window meanwhile.
    try await call("Emulation.setFocusEmulationEnabled", #"{"enabled":true}"#)
    try await resize(width: width, height: height)
  }

  deinit { browser.post("Target.disposeBrowserContext", #"{"browserContextId":"\#(context)"}"#) }

  /// What `confirm` was asked so far.
  var questions: [String] { browser.questions(of: session) }

  @discardableResult func call(_ method: String, _ parameters: String = "{}") async throws -> JSON {
    try await browser.call(method, parameters, session: session)
  }

  func resize(width: Int, height: Int, isPhone: Bool = false) async throws {
    try await call(
      "Emulation.setDeviceMetricsOverride",
      #"{"width":\#(width),"height":\#(height),"deviceScaleFactor":1,"mobile":\#(isPhone)}"#)
  }

  /// - Parameter scheme: `light`, `dark`.
  func prefer(colorScheme scheme: String) async throws {
    try await call(
      "Emulation.setEmulatedMedia", #"{"features":[{"name":"prefers-color-scheme","value":"\#(scheme)"}]}"#)
  }

  /// Opens an address and waits until the status page has something to show there.
  func open(_ url: String) async throws {
    try await call("Page.navigate", #"{"url":"\#(url)"}"#)
    try await wait("document.body?.dataset.ready === 'yes'")
  }

  /// The value of an expression; a promise's is waited for.
  @discardableResult func evaluate(_ expression: String) async throws -> JSON {
    let text = String(decoding: try JSONEncoder().encode(expression), as: UTF8.self)
    let answer = try await call(
      "Runtime.evaluate", #"{"expression":\#(text),"returnByValue":true,"awaitPromise":true,"userGesture":true}"#)
    if let wrong = answer["exceptionDetails"] {
      throw Browser.Failure(description: "\(expression.prefix(200)): \(wrong)")
    }
    return answer["result"]?["value"] ?? .null
  }

  /// Waits until an expression is true. While a page is left for another one, there is none.
  func wait(_ expression: String) async throws {
    do { try await eventually(expression) { (try? await evaluate(expression)) == true } } catch {
      let text = try await evaluate("document.body?.innerText ?? ''")
      throw Browser.Failure(description: "\(expression) is not true of:\n\(text.text ?? "")")
    }
  }

  /// Waits until a text is on the page.
  func waitForText(_ text: String) async throws {
    let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    try await wait("document.body.innerText.includes(\(quoted))")
  }

  /// Clicks a button with the mouse, where it is on the screen.
  ///
  /// - Parameter label: what its accessible name begins with, as `Prefer: home`.
  func click(_ label: String) async throws {
    let button = Self.button(label)
    try await wait("document.querySelector('\(button)') !== null")
    let place = try await place(of: button)
    for type in ["mousePressed", "mouseReleased"] { try await mouse(type, at: place) }
  }

  /// The selector of a button, for a text of JavaScript in apostrophes.
  static func button(_ label: String) -> String { #"button[aria-label^="\#(label.replacing("'", with: #"\\27 "#))"]"# }

  /// Scrolls to an element.
  ///
  /// - Parameter selector: of CSS, without an apostrophe.
  /// - Returns: its middle, in pixels of the window.
  func place(of selector: String) async throws -> (x: Int64, y: Int64) {
    let place = try await evaluate(
      """
      (() => { const element = document.querySelector('\(selector)');
        element.scrollIntoView({block: "center"});
        const box = element.getBoundingClientRect();
        return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)] })()
      """)
    return (try #require(place.list.first?.number), try #require(place.list.last?.number))
  }

  /// - Parameter type: `mousePressed`, `mouseReleased`.
  func mouse(_ type: String, at place: (x: Int64, y: Int64), button: String = "left") async throws {
    try await call(
      "Input.dispatchMouseEvent",
      #"{"type":"\#(type)","x":\#(place.x),"y":\#(place.y),"button":"\#(button)","clickCount":1}"#)
  }

  func press(_ key: Key) async throws {
    let text = key.text.map { #","text":"\#($0)""# } ?? ""
    for type in ["keyDown", "keyUp"] {
      try await call(
        "Input.dispatchKeyEvent",
        #"{"type":"\#(type)","key":"\#(key.rawValue)","windowsVirtualKeyCode":\#(key.code)"#
          + (type == "keyDown" ? text : "") + "}")
    }
  }

  /// What is on the screen, as a picture.
  ///
  /// - Parameter format: `png`, `webp`.
  func picture(_ format: String = "png") async throws -> Data {
    let quality = format == "png" ? "" : #","quality":90"#
    let answer = try await call("Page.captureScreenshot", #"{"format":"\#(format)"\#(quality)}"#)
    return try #require(answer["data"]?.text.flatMap { Data(base64Encoded: $0) })
  }

  /// Whether the pictures of the documents are to be made.
  static let takesPictures = ProcessInfo.processInfo.environment["MAKE_SCREENSHOTS"] == "1"

  /// A picture of the documents, where they are to be made.
  func takePicture(_ name: String) async throws {
    guard Self.takesPictures else { return }
    try await prefer(colorScheme: "light")
    try await resize(width: 1_280, height: 900)
    try await wait("innerWidth === 1280")
    try await picture().write(to: ProjectFiles.root.appendingPathComponent("docs/images/\(name).png"))
    try await resize(width: 1_000, height: 900)
  }

  /// One picture of the documents, where they are to be made: on a desktop and on a phone, light and dark.
  func takeFourPictures(_ name: String) async throws {
    guard Self.takesPictures else { return }
    try await evaluate("document.activeElement.blur()")
    var all = ""
    for scheme in ["light", "dark"] {
      try await prefer(colorScheme: scheme)
      for (width, isPhone) in [(1_000, false), (360, true)] {
        try await resize(width: width, height: 740, isPhone: isPhone)
        try await wait("innerWidth === \(width)")
        try await evaluate("scrollTo(0, 0)")
        all += "<img src='data:image/png;base64,\(try await picture().base64EncodedString())' width=\(width * 3 / 4)>"
      }
    }
    try await prefer(colorScheme: "light")
    try await resize(width: 1_000, height: 900)
    let sheet = try await BrowserTab(width: 1_044, height: 1_134)
    try await sheet.evaluate(
      """
      document.body.style.cssText =
        "margin: 8px; background: #8a929a; display: grid; grid-template-columns: 750px 270px; gap: 8px";
      document.body.innerHTML = "\(all)";
      Promise.all([...document.images].map(one => one.decode())).then(() => true)
      """)
    try await sheet.picture("webp").write(to: ProjectFiles.root.appendingPathComponent("docs/images/\(name).webp"))
  }
}
