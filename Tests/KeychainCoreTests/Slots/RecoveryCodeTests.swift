import KeychainCore
import TestKit
import Testing

@Suite struct RecoveryCodeTests {
  private func typed(_ text: String) throws -> RecoveryCode { try RecoveryCode(typed: text.utf8) }

  @Test func itHasSevenGroupsOfFiveAndShowsItselfOnlyWhenAsked() throws {
    let code = RecoveryCode()
    let groups = code.revealed().split(separator: "-")
    #expect(groups.count == 7 && groups.allSatisfy { $0.count == 5 })
    #expect("\(code)" == "<recovery code>" && String(reflecting: code) == "<recovery code>")
    #expect(code.revealed() != RecoveryCode().revealed())
  }

  @Test func howItIsTypedDoesNotMatter() throws {
    // A code that has the digits which are mistaken for letters.
    var code = RecoveryCode()
    while !code.revealed().contains("0") || !code.revealed().contains("1") { code = RecoveryCode() }
    let text = code.revealed()
    for other in [
      text.lowercased(), text.filter { $0 != "-" }, text.map { "\($0) " }.joined() + "\n",
      text.map { $0 == "0" ? "o" : $0 == "1" ? "l" : "\($0)" }.joined(),
    ] { #expect(try typed(other).revealed() == text) }
  }

  @Test func itsThirdGroupIsRecognizedHoweverItIsTypedAndNoOther() {
    var code = RecoveryCode()
    while !code.revealed().split(separator: "-")[2].contains("0") { code = RecoveryCode() }
    let groups = code.revealed().split(separator: "-").map(String.init)
    for right in [groups[2], groups[2].lowercased() + "\n", groups[2].replacing("0", with: "O")] {
      #expect(code.hasThirdGroup(right.utf8))
    }
    for wrong in ["", String(groups[2].dropLast()), groups[2] + "0", groups[1], "UUUUU", code.revealed()] {
      #expect(!code.hasThirdGroup(wrong.utf8), "\(wrong)")
    }
  }

  @Test func everyWrongDigitAndEveryTwoThatChangedPlacesAreNoticed() throws {
    let text = Array(RecoveryCode().revealed())
    for position in text.indices where text[position] != "-" {
      for other in "0123456789ABCDEFGHJKMNPQRSTVWXYZ" where other != text[position] {
        var wrong = text
        wrong[position] = other
        expectMistake(String(wrong), "group \(position / 6 + 1) ")
      }
      for other in text.indices.prefix(position)
      where text[other] != "-" && text[other] != text[position] && other / 6 == position / 6 {
        var wrong = text
        wrong.swapAt(position, other)
        expectMistake(String(wrong), "group \(position / 6 + 1) ")
      }
    }
  }

  @Test func groupsThatChangedPlacesAndWhatIsTooShortAreNoticed() throws {
    let groups = RecoveryCode().revealed().split(separator: "-").map(String.init)
    for first in groups.indices {
      for second in groups.indices.prefix(first) {
        var wrong = groups
        wrong.swapAt(first, second)
        expectMistake(wrong.joined(separator: "-"), "group \(second + 1) ")
      }
    }
    expectMistake(groups.dropLast().joined(), "this one has 30")
    expectMistake(groups.joined() + "0", "this one has more")
    expectMistake("", "this one has 0")
    expectMistake(groups.joined().dropLast() + "U", "no code has")
  }

  private func expectMistake(_ text: String, _ words: String, _ location: SourceLocation = #_sourceLocation) {
    do {
      _ = try typed(text)
      Issue.record("\(text) was taken", sourceLocation: location)
    } catch let error as KeychainError {
      #expect(error.status == .authFailed && error.message.contains(words), "\(error.message)")
      let isTold = text.split(separator: "-").contains { $0.count > 1 && error.message.contains($0) }
      #expect(!isTold, sourceLocation: location)
    } catch { Issue.record(error, sourceLocation: location) }
  }

  @Test func itOpensEverythingAlsoWhatAPassphraseGuards() throws {
    let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))
    let store = try TemporaryStore()
    try store.keychain.addKeySlot(passphrase)
    let item = try store.add("a", accessible: .whenUnlocked)
    let code = RecoveryCode()
    try store.keychain.addKeySlot(.recoveryCode(code))
    #expect(try store.keychain.slots().map(\.kind) == [.keyFile, .passphrase, .recoveryCode])
    try store.reopen(with: .recoveryCode(try typed(code.revealed())))
    #expect(try store.text(of: item) == "secret")
    store.keychain.close()
    refuses(.authFailed) { try Keychain.open(at: store.location, with: .recoveryCode(RecoveryCode())) }
  }

  @Test func aCodeFromBeforeTheFirstPassphraseIsNotLeftBehind() throws {
    let store = try TemporaryStore()
    let item = try store.add("a", accessible: .whenUnlocked)
    let code = KeySlotSecret.recoveryCode(RecoveryCode())
    let slot = try store.keychain.addKeySlot(code)
    // The key file still reaches everything, and so does the code.
    for way in [store.keyFile, code] {
      try store.reopen(with: way)
      #expect(try store.text(of: item) == "secret")
    }
    let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))
    refuses(.param) { try store.keychain.addKeySlot(passphrase) }
    try store.keychain.removeKeySlot(slot.number)
    try store.keychain.addKeySlot(passphrase)
    try store.keychain.addKeySlot(code)
    try store.reopen(with: code)
    #expect(try store.text(of: item) == "secret")
  }
}
