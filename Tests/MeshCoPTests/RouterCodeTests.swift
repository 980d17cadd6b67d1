import Testing

@testable import MeshCoP

@Suite("Codes that border routers show") struct RouterCodeTests {
  @Test("Spaces and hyphens do not matter", arguments: ["916371366", "916 371 366", " 916-371-366", "9 1637136 6"])
  func spaces(_ text: String) throws {
    let code = try #require(RouterCode(text))
    #expect(code.isChecked && code.secret.withUnsafeBytes { $0.elementsEqual("916371366".utf8) })
  }

  @Test(
    "Anything else than nine digits is no code",
    arguments: ["", "91637136", "9163713660", "91637136x", "９１６３７１３６６", "916.371.366", "+16371366", "9163\t71366"])
  func none(_ text: String) { #expect(RouterCode(text) == nil) }

  @Test("One digit that is another one, or two neighbours that are swapped, do not fit the check digit") func mistyped()
    throws
  {
    let digits = Array("916371366")
    for place in digits.indices {
      for digit in "0123456789" where digit != digits[place] {
        var other = digits
        other[place] = digit
        #expect(RouterCode(String(other))?.isChecked == false)
      }
      guard place > 0, digits[place] != digits[place - 1] else { continue }
      var other = digits
      other.swapAt(place, place - 1)
      #expect(RouterCode(String(other))?.isChecked == false)
    }
    for (code, isChecked) in [("123456784", true), ("123456789", false), ("000000000", false), ("111111111", true)] {
      #expect(RouterCode(code)?.isChecked == isChecked, "\(code)")
    }
  }
}
