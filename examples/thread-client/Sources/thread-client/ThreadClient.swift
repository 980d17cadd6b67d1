// SPDX-License-Identifier: Apache-2.0

import Foundation
import ThreadNetwork

/// Keeps Thread credentials, and asks for those of the preferred network.
@main enum ThreadClient {
  private static let usage = """
    usage: thread-client store AGENT     keep the dataset on standard input, in hex, for a border router
           thread-client list            print what is kept, without keys
           thread-client delete AGENT    forget one
           thread-client check           is the dataset on standard input the preferred network's?
           thread-client preferred       print the preferred network's dataset, once a person agrees
           thread-client share NETWORK   show the person a code that gives others a network's credentials
    AGENT is the Border Agent ID: 16 or 32 hex digits; NETWORK the Extended PAN ID: 16.

    """

  static func main() async {
    do { try await run(Array(CommandLine.arguments.dropFirst())) } catch {
      // Says what is wrong, where, and what to do.
      complain("thread-client: \(error.localizedDescription)\n")
      exit((error as NSError).code == 15 ? 77 : 1)
    }
  }

  private static func run(_ arguments: [String]) async throws {
    let client = THClient()
    switch (arguments.first, arguments.count) {
    case ("store", 2):
      try await client.storeCredentials(
        forBorderAgent: Hex.data(arguments[1]), activeOperationalDataSet: standardInput())
    case ("list", 1):
      let rows = try await client.allCredentials().map(CredentialRow.init)
      for row in rows.sorted() { print(row) }
    case ("delete", 2): try await client.deleteCredentials(forBorderAgent: Hex.data(arguments[1]))
    case ("check", 1):
      let isPreferred = await client.isPreferred(forActiveOperationalDataset: try standardInput())
      print(isPreferred ? "preferred" : "not preferred")
    case ("preferred", 1):
      guard await client.isPreferredAvailable() else {
        complain("thread-client: there is no preferred network\n")
        exit(1)
      }
      let credentials = try await client.preferredCredentials()
      print(Hex.text(credentials.activeOperationalDataSet ?? Data()))
    case ("share", 2): try await client.enableCredentialSharingMode(forExtendedPANID: Hex.data(arguments[1]))
    default:
      complain(usage)
      exit(64)
    }
  }

  private static func standardInput() throws -> Data {
    try Hex.data(String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self))
  }

  private static func complain(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
