// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("Commands in the documents")
struct DocumentedCommandsTests {
  /// A command of the program with its options, as the program describes itself.
  private struct Command: Decodable {
    struct Argument: Decodable {
      struct Name: Decodable {
        let name: String
      }
      let names: [Name]?
    }
    let commandName: String
    let arguments: [Argument]?
    let subcommands: [Command]?
    let defaultSubcommand: String?

    func has(_ name: String) -> Bool { subcommands?.contains { $0.commandName == name } == true }

    var options: Set<String> {
      Set((arguments ?? []).flatMap { $0.names ?? [] }.map(\.name))
    }
  }

  private struct Description: Decodable {
    let command: Command
  }

  private static func program() async throws -> Command {
    let outcome = try await ThreadkeeperBinary.run("--experimental-dump-help")
    return try JSONDecoder().decode(Description.self, from: Data(outcome.output.utf8)).command
  }

  @Test("Each command that a page tells people to type is there, with its options")
  func commands() async throws {
    let program = try await Self.program()
    var checked = 0
    for page in try ProjectFiles.pages() {
      for line in page.shellLines {
        guard let words = Self.invocation(in: line) else { continue }
        // Not in a program that was built without them.
        if words.first == "fleet", !program.has("fleet") { continue }
        checked += 1
        var command = program
        var rest = words[...]
        while let word = rest.first,
          let next = command.subcommands?.first(where: { $0.commandName == word })
        {
          command = next
          rest = rest.dropFirst()
        }
        if command.commandName == program.commandName, let word = rest.first, !word.hasPrefix("-") {
          Issue.record("\(page.path): there is no command \(word): \(line)")
        }
        if let name = command.defaultSubcommand,
          let next = command.subcommands?.first(where: { $0.commandName == name })
        {
          command = next
        }
        // Every command takes the home of a fleet that asks a daemon.
        let isOfFleet = zip(rest, rest.dropFirst()).contains { $0 == "--home" && $1.contains("/") }
        for word in rest where word.hasPrefix("--") && !(isOfFleet && word == "--home") {
          #expect(
            command.options.contains(String(word.dropFirst(2))),
            "\(page.path): \(command.commandName) has no \(word): \(line)")
        }
      }
    }
    #expect(checked > 80)
  }

  @Test("The reference of the commands names every one of them")
  func reference() async throws {
    let text = try ProjectFiles.text(of: "docs/reference/commands.md")
    func check(_ command: Command, below parents: [String]) {
      for child in command.subcommands ?? [] where child.commandName != "help" {
        let name = (parents + [child.commandName]).joined(separator: " ")
        let isGroup = !(child.subcommands ?? []).isEmpty
        if !isGroup { #expect(text.contains("| `\(name)"), "\(name) is missing") }
        check(child, below: parents + [child.commandName])
      }
    }
    check(try await Self.program(), below: [])
  }

  /// The words after `threadkeeper`, up to a pipe, a redirection or a comment; nil where it is not called.
  private static func invocation(in line: String) -> [String]? {
    guard
      let match = line.firstMatch(
        of: #/^(?:\$ |sudo |sudo -u [a-z]+ )?threadkeeper (?<rest>[a-z][^|#<>&]*)/#)
    else { return nil }
    return match.output.rest.split(separator: " ").map(String.init)
  }
}
