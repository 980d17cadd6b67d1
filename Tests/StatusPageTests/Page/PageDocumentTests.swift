import Foundation
import Testing

@testable import StatusPage

struct PageDocumentTests {
  private let text = PageDocument.html(nonce: "n0", mayChange: true)

  @Test("The page has at most 60 kB without its state, and nothing in it is from elsewhere") func size() {
    #expect(text.utf8.count <= 60_000)
    for mark in ["http:", "https:", "//", "@import", "url(", "innerHTML", "eval(", "document.write"] {
      #expect(!text.replacing(#/(?m)^ *\/\/ .*$/#, with: "").contains(mark), "\(mark)")
    }
    #expect(!text.contains(" style=") && !text.contains("onclick"))
  }

  @Test("What it shows at first cannot end its element; what is too large comes later") func firstState() {
    let state = Array(#"{"a":"</script><script>alert(1)</script>"}"#.utf8)
    let page = PageDocument.html(nonce: "n0", mayChange: false, state: state)
    #expect(page.contains(#"type="application/json">{"a":"\u003c/script>\u003cscript>alert"#))
    #expect(page.components(separatedBy: "</script>").count == 3)
    // A letter that joins what follows it to one Character (Unicode: Prepend).
    let joined = PageDocument.html(nonce: "n0", mayChange: false, state: Array("{\"a\":\"\u{D4E}</script>\"}".utf8))
    #expect(!Array(joined.utf8).contains(Array("\u{D4E}</script".utf8)))
    #expect(Array(joined.utf8).contains(Array(#"\u003c/script"#.utf8)))
    let large = [UInt8](repeating: UInt8(ascii: "1"), count: 50_000)
    let other = PageDocument.html(nonce: "n0", mayChange: false, state: large)
    #expect(other.utf8.count < 60_000 && other.contains(#"type="application/json"></script>"#))
  }

  @Test("Its policy allows its own style and script, by a nonce that no two documents share") func policy() {
    #expect(text.contains("<style nonce=\"n0\">") && text.contains("<script nonce=\"n0\">"))
    let policy = PageDocument.policy(nonce: "n0")
    #expect(policy.hasPrefix("default-src 'none'; style-src 'nonce-n0'; script-src 'nonce-n0'; "))
    #expect(!policy.contains("unsafe") && !policy.contains("*"))
    let nonces = Set((0..<100).map { _ in PageDocument.makeNonce() })
    #expect(nonces.count == 100 && nonces.allSatisfy { $0.count == 32 })
  }

  @Test("Language, title, landmarks and headings are there, and every section names its heading") func structure()
    throws
  {
    for part in [
      "<html lang=\"en\">", "<title>threadkeeper</title>", "<main id=\"main\"", "<header>", "<footer>",
      "name=\"viewport\"", "class=\"skip\" href=\"#main\"",
    ] { #expect(text.contains(part), "\(part)") }
    #expect(text.matches(of: #/<h1>/#).count == 1)
    #expect(!text.contains("user-scalable") && !text.contains("maximum-scale"))
    let labels = text.matches(of: #/aria-labelledby="([a-z-]+)"/#).map { String($0.output.1) }
    #expect(labels.count == 10)
    for label in labels { #expect(text.contains("<h2 id=\"\(label)\">")) }
    let ids = text.matches(of: #/ id="([a-z-]+)"/#).map { String($0.output.1) }
    #expect(Set(ids).count == ids.count)
  }

  @Test("Its forms are there for whoever may change something, and each field has a label and a button") func forms() {
    #expect(
      text.matches(of: #/<form/#).count == 2
        && text.matches(of: #/<label>[^<]+<input [^>]+></label> <button/#).count == 2)
    let other = PageDocument.html(nonce: "n0", mayChange: false)
    #expect(!other.contains("<form") && other.contains("From my phone, through Home Assistant"))
  }

  @Test("It names each blueprint, and where it is to be had beside a proxy") func blueprints() {
    let named = text.matches(of: #/data-blueprint="([a-z-]+)"/#).map { "/blueprints/\($0.output.1).yaml" }
    #expect(named.sorted() == Blueprints.files.keys.sorted())
    #expect(text.contains(#" data-address="">"#))
    let address = "http://keeper:8423/"
    let page = PageDocument.html(nonce: "n0", mayChange: false, address: address)
    #expect(page.contains(#" data-address="\#(address)">"#))
  }

  @Test("Text stands out from what is behind it by at least 4.5 to 1, light and dark") func contrast() throws {
    let style = PageDocument.style
    let dark = try #require(style.firstRange(of: "prefers-color-scheme:dark"))
    let light = Self.colors(in: style[..<dark.lowerBound])
    let night = light.merging(Self.colors(in: style[dark.upperBound...])) { $1 }
    #expect(light.count == 14)
    for colors in [light, night] {
      for text in ["text", "dim", "good", "bad", "warn", "mark"] {
        for back in ["back", "card"] {
          let ratio = Self.contrast(try #require(colors[text]), try #require(colors[back]))
          #expect(ratio >= 4.5, "\(text) on \(back): \(ratio)")
        }
      }
      #expect(Self.contrast(try #require(colors["on"]), try #require(colors["mark"])) >= 4.5)
      // The header is in the colour of the worst alert.
      for tone in ["good", "bad", "warn", "mark"] {
        let (text, tint) = (try #require(colors[tone]), try #require(colors["\(tone)tint"]))
        #expect(Self.contrast(text, tint) >= 4.5, "\(tone)")
      }
    }
  }

  /// The first of each name.
  private static func colors(in text: Substring) -> [String: String] {
    let pairs = text.matches(of: #/--([a-z]+):#([0-9a-f]+)/#).map { (String($0.output.1), String($0.output.2)) }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  /// https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
  private static func contrast(_ a: String, _ b: String) -> Double {
    let (a, b) = (luminance(a), luminance(b))
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
  }

  private static func luminance(_ color: String) -> Double {
    let digits = color.count == 3 ? color.map { "\($0)\($0)" }.joined() : color
    let value = Int(digits, radix: 16) ?? 0
    let parts = [16, 8, 0].map { shift in
      let part = Double(value >> shift & 255) / 255
      return part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }
}
