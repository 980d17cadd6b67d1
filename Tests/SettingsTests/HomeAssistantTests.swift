// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

@Suite("The settings of Home Assistant's discovery")
struct HomeAssistantTests {
  @Test("It is on, at Home Assistant's own prefix, unless something else is said")
  func defaults() throws {
    let settings = try #require(try load("").settings)
    #expect(settings.homeAssistant.discovery == .on)
    #expect(settings.homeAssistant.prefix == "homeassistant")
    let other = try #require(
      try load("home_assistant: {discovery: off, prefix: ha/discovery}").settings)
    #expect(other.homeAssistant.discovery == .off)
    #expect(other.homeAssistant.prefix == "ha/discovery")
    let variable = try load("", ["THREADKEEPER_HOME_ASSISTANT_DISCOVERY": "off"])
    #expect(variable.settings?.homeAssistant.discovery == .off)
  }

  @Test("The truth values of other readers of YAML are taken for on and off")
  func truthValues() throws {
    for (text, expected) in [("true", Settings.HomeAssistant.Discovery.on), ("False", .off)] {
      let settings = try load("home_assistant: {discovery: \(text)}").settings
      #expect(settings?.homeAssistant.discovery == expected)
    }
  }

  @Test("Home Assistant decides about adoptions, as soon as its login is named")
  func consent() throws {
    let settings = try #require(try load("").settings).homeAssistant
    #expect(settings.consent == .adoptions && settings.login == nil)
    #expect(!settings.isApprover("ha"))
    let named = try #require(try load("home_assistant: {login: ha}").settings).homeAssistant
    #expect(named.isApprover("ha") && !named.isApprover("hb"))
    for text in ["off", "false"] {
      let off = try #require(try load("home_assistant: {login: ha, consent: \(text)}").settings)
      #expect(off.homeAssistant.consent == .off && !off.homeAssistant.isApprover("ha"))
    }
    let all = try load("home_assistant: {consent: all}").settings
    #expect(all?.homeAssistant.consent == .all)
  }

  @Test("Nobody's credentials are used without a question, unless a login is named; each once")
  func trusted() throws {
    #expect(try #require(try load("").settings).homeAssistant.trusted == [])
    let named = try #require(try load("home_assistant: {trusted: [ha, hb]}").settings)
    #expect(named.homeAssistant.trusted == ["ha", "hb"])
    for line in ["trusted: [ha, ha]", "trusted: [a/b]", "trusted: ha"] {
      let found = try problems("home_assistant:\n  \(line)")
      #expect(found.count == 1 && found.first?.hasPrefix("2:") == true, "\(found)")
    }
  }

  @Test(
    "A login that cannot be one, and another extent, are refused at their places",
    arguments: ["login: a/b", "login: '+'", "consent: true", "consent: some"])
  func badConsent(line: String) throws {
    let found = try problems("home_assistant:\n  \(line)")
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("2:") == true)
  }

  @Test(
    "A prefix that is no topic is refused at its place",
    arguments: ["a/+", "'#'", "a//b", "/a", "$SYS", "a%u", "''"])
  func badPrefix(prefix: String) throws {
    let found = try problems("home_assistant:\n  prefix: \(prefix)")
    #expect(found.count == 1)
    #expect(
      found.first?.hasPrefix("2:11: error: home_assistant.prefix: expected a topic such as") == true
    )
  }

  @Test(
    "A prefix that overlaps with the topics of a home is refused at its place",
    arguments: [("tk", "tk"), ("tk", "tk/ha"), ("a/b", "a")])
  func overlap(base: String, prefix: String) throws {
    let found = try problems("mqtt: {base_topic: \(base)}\nhome_assistant:\n  prefix: \(prefix)")
    #expect(
      found == [
        "3:11: error: home_assistant.prefix: `\(prefix)` equals the base topic of the home `home` "
          + "(`\(base)`), or one lies in the other; choose another base topic, "
          + "or set `home_assistant.discovery: off`"
      ])
    let homes = try problems(
      "homes: {x: {base_topic: \(base)}}\nhome_assistant: {prefix: \(prefix)}")
    #expect(homes.first?.hasPrefix("2:26: error: home_assistant.prefix: ") == true)
  }

  @Test("Where only the base topic was written, its place is named; with discovery off it may stay")
  func overlapWithDefault() throws {
    let yaml = "mqtt:\n  base_topic: homeassistant/tk"
    #expect(try problems(yaml).first?.hasPrefix("2:15: error: home_assistant.prefix: ") == true)
    #expect(try problems(yaml + "\nhome_assistant: {discovery: off}") == [])
    #expect(try problems("mqtt: {base_topic: homeassistant2}") == [])
  }
}
