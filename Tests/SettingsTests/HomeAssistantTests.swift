import Settings
import Testing

@Suite("Who may approve over MQTT") struct ConsentTests {
  @Test("Nobody approves over MQTT unless the settings name him") func approvers() throws {
    for yaml in ["consent: {approvers: []}", "consent: ", "consent: {approvers: }"] {
      let consent = try settings(yaml).consent
      #expect(consent.approvers.isEmpty && !consent.isApprover("anna"))
    }
    let consent = try settings("consent:\n  approvers: [anna, 7, jos\u{E9}]\n").consent
    #expect(consent.approvers == ["anna", "7", "jos\u{E9}"])
    #expect(consent.approvers.allSatisfy(consent.isApprover))
    // Nor by another spelling of the same letters.
    for user in ["", "Anna", "anna ", "ann", "annab", "jose\u{301}"] { #expect(!consent.isApprover(user), "\(user)") }
  }

  @Test("What can't be a user, or stands there twice, is refused with its place") func names() throws {
    for user in ["''", "a/b", "'a+'", "'#'", "\"a\\tb\"", "[a]", "{a: b}", "null", "!secret x"] {
      #expect(
        try problem("consent:\n  approvers: [ok, \(user)]").hasPrefix("2:19: error: consent.approvers: expected "))
    }
    #expect(
      try problem("consent:\n  approvers: [a, b, a]") == "2:21: error: consent.approvers: the user `a` is listed twice")
    #expect(
      try problem("consent: {approvers: anna}").hasPrefix(
        "1:22: error: consent.approvers: expected a list of user names, found "))
    #expect(try problem("consent: {approver: [a]}").contains("did you mean `approvers`?"))
  }

  @Test("What an approver says in plaintext counts only where the settings say so") func trust() throws {
    #expect(try settings("consent: {approvers: [a]}").consent.approversTrust == .signed)
    for trust in Settings.Consent.ApproversTrust.allCases {
      let yaml = "consent: {approvers: [a], approvers_trust: \(trust.rawValue)}"
      #expect(try settings(yaml).consent.approversTrust == trust)
    }
    #expect(
      try problem("consent: {approvers_trust: none}").hasPrefix(
        "1:28: error: consent.approvers_trust: expected `signed` or `broker`, found "))
  }
}

@Suite("What Home Assistant is shown, and may decide") struct HomeAssistantTests {
  private func homeAssistant(_ text: String = "") throws -> Settings.HomeAssistant {
    try settings("home_assistant: {\(text)}").homeAssistant
  }

  @Test("It is on, at Home Assistant's own prefix, unless something else is said") func discovery() throws {
    // Also with the truth values of other readers of YAML.
    for (text, discovery, prefix) in [
      ("", Settings.HomeAssistant.Discovery.on, "homeassistant"),
      ("discovery: off, prefix: ha/discovery", .off, "ha/discovery"), ("discovery: true", .on, "homeassistant"),
      ("discovery: False", .off, "homeassistant"),
    ] {
      let found = try homeAssistant(text)
      #expect(found.discovery == discovery && found.prefix == prefix)
    }
  }

  @Test("Home Assistant decides about adoptions, as soon as its login is named") func consent() throws {
    let unnamed = try homeAssistant()
    #expect(unnamed.consent == .adoptions && unnamed.login == nil && !unnamed.isApprover("ha"))
    let named = try homeAssistant("login: ha")
    #expect(named.isApprover("ha") && !named.isApprover("hb"))
    for text in ["off", "false"] {
      let off = try homeAssistant("login: ha, consent: \(text)")
      #expect(off.consent == .off && !off.isApprover("ha"))
    }
    #expect(try homeAssistant("consent: all").consent == .all)
  }

  @Test("Nobody's credentials are used without a question, unless a login is named") func trusted() throws {
    #expect(try settings().eachHome.trusted.isEmpty)
    let named = try settings("home_assistant: {trusted: [ha, caf\u{E9}]}").eachHome.trusted
    #expect(named == ["ha", "caf\u{E9}"] && !named.contains("cafe\u{301}"))
  }

  @Test("Those who report the SSID of all routers are named, byte by byte") func reporters() throws {
    #expect(try settings().eachHome.ssidReporters.isEmpty)
    let named = try settings("ssid: {reporters: [hall, caf\u{E9}]}").eachHome.ssidReporters
    #expect(named == ["hall", "caf\u{E9}"] && !named.contains("cafe\u{301}"))
  }

  @Test(
    "A login that cannot be one, or is there twice, and another extent, are refused at their places",
    arguments: [
      "login: a/b", "login: '+'", "consent: true", "consent: some", "trusted: [ha, ha]", "trusted: [a/b]",
      "trusted: ha",
    ]) func refused(line: String) throws
  { #expect(try problem("home_assistant:\n  \(line)").hasPrefix("2:")) }

  @Test(
    "A prefix that is no topic is refused at its place", arguments: ["a/+", "'#'", "a//b", "/a", "$SYS", "a%u", "''"])
  func badPrefix(prefix: String) throws {
    #expect(
      try problem("home_assistant:\n  prefix: \(prefix)").hasPrefix(
        "2:11: error: home_assistant.prefix: expected a topic such as"))
  }

  @Test(
    "A prefix that overlaps with the topics of a home is refused at its place",
    arguments: [("tk", "tk"), ("tk", "tk/ha"), ("a/b", "a")]) func overlap(base: String, prefix: String) throws
  {
    #expect(
      try problem("mqtt: {base_topic: \(base)}\nhome_assistant:\n  prefix: \(prefix)")
        == "3:11: error: home_assistant.prefix: `\(prefix)` equals the base topic of the home `home` "
        + "(`\(base)`), or one lies in the other; choose another base topic, "
        + "or set `home_assistant.discovery: off`")
    #expect(
      try problems("homes: {x: {base_topic: \(base)}}\nhome_assistant: {prefix: \(prefix)}").first?.hasPrefix(
        "2:26: error: home_assistant.prefix: ") == true)
  }

  @Test("Where only the base topic was written, its place is named; with discovery off it may stay")
  func overlapWithDefault() throws {
    let yaml = "mqtt:\n  base_topic: homeassistant/tk"
    #expect(try problem(yaml).hasPrefix("2:15: error: home_assistant.prefix: "))
    #expect(try problems(yaml + "\nhome_assistant: {discovery: off}") == [])
    #expect(try problems("mqtt: {base_topic: homeassistant2}") == [])
  }
}
