import TestKit
import Testing

@testable import Threadkeeper

@Suite("Wrong usage and help", .timeLimit(.minutes(30))) struct UsageTests {
  @Test(
    "Wrong usage ends with 64 and says what is expected",
    arguments: [
      ["nonsense"], ["dataset", "nonsense"], ["dataset", "decode"], ["--nonsense"],
      ["client", "request", "nonsense/get", "--username", "phone"],
    ]) func wrong(arguments: [String]) async throws
  {
    let outcome = try await run(arguments)
    #expect(outcome.status == 64)
    #expect(outcome.output.isEmpty)
    #expect(outcome.error.hasPrefix("error: "))
    #expect(outcome.error.lowercased().contains("usage: threadkeeper"))
  }

  @Test("A command that there is not is answered with the one that was probably meant") func meant() async throws {
    for (words, meant) in [
      ("routrs", "routers"), ("store verfy", "store verify"), ("consent aprove c-1", "consent approve"),
      ("rnu --json", "run"), ("accept x", nil), ("store --home verfy", nil), ("run rnu", nil),
    ] {
      let outcome = await CommandScene.run(words.split(separator: " ").map(String.init))
      #expect(outcome.status == 64)
      let advice = outcome.error.split(separator: "\n").first?.split(separator: ". ").last
      #expect(outcome.error.contains("Did you mean 'threadkeeper") == (meant != nil))
      if let meant { #expect(advice.map(String.init) == "Did you mean 'threadkeeper \(meant)'?") }
    }
  }

  @Test("A dataset in the wrong place is not repeated") func misplaced() async throws {
    for arguments in [
      ["dataset", DatasetSamples.home], ["dataset", "decode", "00", DatasetSamples.home],
      ["dataset", "decode", "00", "--key=\(DatasetSamples.networkKey)"],
    ] {
      let outcome = try await run(arguments)
      #expect(outcome.status == 64)
      #expect(!(outcome.error + outcome.output).contains(DatasetSamples.networkKey.prefix(8)))
    }
  }

  @Test("Rows of 32 hexadecimal digits are hidden, shorter ones are not") func hiding() {
    let key = DatasetSamples.networkKey
    #expect(
      ThreadkeeperCommand.hidingSecrets(in: "a '\(key)' \(key.dropLast())")
        == "a '<32 hexadecimal digits>' \(key.dropLast())")
    #expect(ThreadkeeperCommand.hidingSecrets(in: key) == "<32 hexadecimal digits>")
  }

  @Test("Help and version go to standard output, and help warns of the command line") func help() async throws {
    let version = try await run(["--version"])
    #expect(version.status == 0)
    #expect(version.output == threadkeeperVersion + "\n")
    let help = try await run(["dataset", "decode", "--help"])
    #expect(help.status == 0)
    #expect(help.output.contains("Other users of the machine can read"))
    #expect(help.output.contains("Example"))
  }

  @Test("Each shell gets its completion script, which a command line that is wrong otherwise does not change")
  func completion() async {
    for (shell, start) in [("bash", "#!/bin/bash"), ("zsh", "#compdef threadkeeper"), ("fish", "function ")] {
      for words in [["--generate-completion-script", shell], ["--generate-completion-script=\(shell)"]] {
        let outcome = await CommandScene.run(words)
        #expect(outcome.status == 0 && outcome.error.isEmpty)
        #expect(outcome.output.hasPrefix(start) && outcome.output.contains("routers"), "\(outcome.output.prefix(80))")
      }
    }
    let outcome = await CommandScene.run(["--generate-completion-script", "tcsh"])
    #expect(outcome.status == 64 && outcome.output.isEmpty)
  }

  private func run(_ arguments: [String]) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(arguments)
  }
}
