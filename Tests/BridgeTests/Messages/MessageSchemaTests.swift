// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadDataset
import Wire

@testable import Bridge
@testable import Home

private struct SchemaFile {
  let name: String
  let describer: WireDescriber
  let schema: String

  init(
    _ name: String, _ title: String, _ sample: some WireObject, about: String? = nil,
    rules: String = ""
  ) {
    self.name = name
    describer = WireDescriber(sample)
    schema = WireDescriber.document(sample, title: title, about: about, rules: rules)
  }
}

/// The schemas of what the daemon publishes, which come from its messages: `make schemas` writes them.
@Suite("The schemas of what is published")
struct MessageSchemaTests {
  private static let files: [SchemaFile] = [
    SchemaFile(
      "router", "router/<border_agent_id>",
      RouterState(
        Router(BorderAgentID(high: 1, low: 0), at: WireTime(milliseconds: 0)), .none, in: "home"),
      about: "The state of a border router."),
    SchemaFile(
      "network", "network/<ext_pan_id>",
      NetworkState(NetworkView(id: ExtendedPANID(number: 1)), in: "home"),
      about: "The state of a Thread network."),
  ]

  @Test("Each file says what its message declares")
  func agreement() throws {
    for file in Self.files {
      try expectFile("docs/reference/schemas/\(file.name).json", has: JSONLayout.text(file.schema))
    }
  }

  @Test("Fields are in the order of their names' bytes, each once, and none holds a secret")
  func order() {
    for file in Self.files {
      let names = file.describer.fields.map(\.name)
      for (name, next) in zip(names, names.dropFirst()) {
        let isBefore = name.utf8.lexicographicallyPrecedes(next.utf8)
        #expect(isBefore, "\(file.name): \(name), \(next)")
      }
      #expect(!file.describer.hasSecrets, "\(file.name)")
    }
  }
}
