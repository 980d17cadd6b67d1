// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperDaemon

@Suite("The same command as another user")
struct SameCommandTests {
  private func advice(_ argument: String) -> String {
    SameCommand.by(
      arguments: ["threadkeeper", "--config", "my.yaml", "preferred", "check", argument],
      environment: [:])
  }

  @Test(
    "A dataset is not repeated, also where something else stands beside it",
    arguments: ["", "\r", " ", "\n", "x"])
  func dataset(beside: String) {
    let dataset = String(repeating: "0e08", count: 12)
    for argument in [
      dataset + beside, beside + dataset, "0x" + dataset, dataset + beside + dataset,
      "--dataset=" + dataset + beside,
    ] {
      #expect(advice(argument) == "sudo threadkeeper --config my.yaml preferred check DATASET")
    }
  }

  @Test("Ids and places are repeated")
  func others() {
    for argument in [String(repeating: "0e08", count: 8), "a1b2c3d4e5f60718", "/var/lib/a-b"] {
      #expect(advice(argument).hasSuffix(" check \(argument)"))
    }
  }
}
