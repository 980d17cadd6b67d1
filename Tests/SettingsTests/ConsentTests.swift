// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

struct ConsentTests {
  @Test("Nobody approves over MQTT unless the settings name him")
  func approvers() throws {
    let none = try #require(try load("consent: {approvers: []}").settings)
    #expect(none.consent.approvers.isEmpty && !none.consent.isApprover("anna"))
    #expect(try #require(try load("consent: ").settings).consent.approvers.isEmpty)
    #expect(try #require(try load("consent: {approvers: }").settings).consent.approvers.isEmpty)
    let settings = try #require(try load("consent:\n  approvers: [anna, 7]\n").settings)
    #expect(settings.consent.approvers == ["anna", "7"])
    #expect(settings.consent.isApprover("anna") && settings.consent.isApprover("7"))
    for user in ["", "Anna", "anna ", "ann", "annab"] {
      #expect(!settings.consent.isApprover(user), "\(user)")
    }
  }

  @Test("Nobody approves by another spelling of the same letters")
  func spelling() throws {
    let settings = try #require(try load("consent: {approvers: [jos\u{E9}]}").settings)
    #expect(settings.consent.isApprover("jos\u{E9}"))
    #expect(!settings.consent.isApprover("jose\u{301}"))
  }

  @Test("What can't be a user, or stands there twice, is refused with its place")
  func names() throws {
    for user in ["''", "a/b", "'a+'", "'#'", "\"a\\tb\"", "[a]", "{a: b}", "null", "!secret x"] {
      let found = try problems("consent:\n  approvers: [ok, \(user)]")
      #expect(found.count == 1, "\(user)")
      #expect(
        found.first?.hasPrefix("2:19: error: consent.approvers: expected ") == true, "\(found)")
    }
    #expect(
      try problems("consent:\n  approvers: [a, b, a]") == [
        "2:21: error: consent.approvers: the user `a` is listed twice"
      ])
    #expect(
      try problems("consent: {approvers: anna}").first?.hasPrefix(
        "1:22: error: consent.approvers: expected a list of user names, found ") == true)
    #expect(
      try problems("consent: {approver: [a]}").first?.contains("did you mean `approvers`?") == true)
  }

  @Test("What an approver says in plaintext counts only where the settings say so")
  func trust() throws {
    #expect(
      try #require(try load("consent: {approvers: [a]}").settings).consent.approversTrust == .signed
    )
    for trust in Settings.Consent.ApproversTrust.allCases {
      let settings = try load("consent: {approvers: [a], approvers_trust: \(trust.rawValue)}")
        .settings
      #expect(try #require(settings).consent.approversTrust == trust)
    }
    #expect(
      try problems("consent: {approvers_trust: none}").first?.hasPrefix(
        "1:28: error: consent.approvers_trust: expected `signed` or `broker`, found ") == true)
  }

  @Test("A variable holds the list too")
  func variable() throws {
    let settings = try load(
      "consent: {approvers: [b]}", ["THREADKEEPER_CONSENT_APPROVERS": "[anna]"]
    ).settings
    #expect(try #require(settings).consent.approvers == ["anna"])
  }
}
