// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("Help")
struct HelpTextTests {
  private static func all(
    below command: any ParsableCommand.Type
  ) -> [any ParsableCommand.Type] {
    let configuration = command.configuration
    let own = configuration.subcommands + configuration.groupedSubcommands.flatMap(\.subcommands)
    return [command] + own.flatMap { all(below: $0) }
  }

  @Test("No line of any help has more than 80 columns, and no command is broken")
  func width() {
    let commands = Self.all(below: ThreadkeeperCommand.self)
    #expect(commands.count > 40)
    for command in commands {
      let text = HelpText.wrapped(
        ThreadkeeperCommand.helpMessage(for: command, columns: HelpText.unwrapped))
      for line in text.split(separator: "\n") {
        #expect(line.count <= 80, "\(command): \(line)")
        #expect(line.count { $0 == "`" }.isMultiple(of: 2), "\(command): \(line)")
      }
    }
  }

  @Test("Descriptions go on below themselves, and an option with its value stays together")
  func layout() {
    let description = Array(repeating: "word", count: 20).joined(separator: " ")
    let usage = "USAGE: threadkeeper x" + String(repeating: " [--option <value>]", count: 5)
    let text = HelpText.wrapped("  --flag                  \(description)\n\(usage)\n")
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines[0].hasPrefix("  --flag                  word word"))
    #expect(lines[1].hasPrefix(String(repeating: " ", count: 26) + "word"))
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(lines.dropFirst(2).allSatisfy { $0.hasSuffix("]") })
  }
}
