// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests
import ThreadkeeperDaemon

/// `threadkeeper preferred set`
struct PreferredSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Make another network the preferred one.",
    discussion: """
      Name a network of which credentials are stored, or that was preferred before, by its Extended \
      PAN ID or, where that is unique, by its name. Or name one that `threadkeeper preferred show --history` \
      lists by its id, or give a dataset. A network that border routers were only seen on is named by its \
      Extended PAN ID: its credentials can come later, by the same command. All border routers are then checked again. The network that \
      was preferred is kept in the history.

      Examples:
        threadkeeper preferred set 1111111122222222
        threadkeeper preferred set home
        threadkeeper preferred set p-5f3a9c01
        threadkeeper preferred set 1111111122222222 --router a1b2c3d4e5f60718
        threadkeeper preferred set @dataset.hex

      Other users of the machine can read a dataset that stands on the command line.
      """)

  @Argument(
    help:
      "An Extended PAN ID (16 hex digits), a name, an id of the history, a dataset, @FILE, or - for standard input."
  )
  var network: String

  @Option(
    help: "The border agent id of the router whose dataset of this network is meant.")
  var router: String?

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let changed: Bool
  }

  func run() async throws {
    var request = ThreadRequest(.setPreferred)
    switch PreferredName(network) {
    case .network(let id): request.network = id
    case .former(let id): request.id = id
    case .name(let name): request.networkName = name
    case .dataset: request.dataset = try dataset()
    }
    if let router {
      guard let agent = BorderAgentID(hex: router) else {
        throw CommandFailure(
          .usage, "\(router.printable) is no border agent id",
          remedy: "expected 16 or 32 hex digits")
      }
      guard request.network != nil else {
        throw CommandFailure(.usage, "--router needs the network's Extended PAN ID beside it")
      }
      request.agent = agent
    }
    let settings = try options.loadOfStore()
    request.home = try settings.home(named: home.home)
    let data = try await DaemonClient(settings: settings).perform(request, isRepeatable: true)
    let changed = data.changed == true
    try output.show(
      Report(changed: changed),
      text: data.available == false
        ? "That is the preferred network now, and all border routers are checked again. Its "
          + "credentials are not here: see `threadkeeper preferred show`.\n"
        : changed
          ? "The preferred network is changed, and all border routers are checked again. "
            + "`threadkeeper preferred show --history` lists what was preferred before.\n"
          : "That is the preferred network already.\n")
  }

  private func dataset() throws -> OperationalDataset {
    do {
      let argument = DatasetArgument(argument: network)
      guard let dataset = try argument?.read(allowPartial: false), dataset.kind == .complete else {
        throw CommandFailure(.badInput, "expected an active dataset, not a pending one")
      }
      return dataset
    } catch let error as DatasetError {
      throw try DatasetErrorReport(error).failure(output)
    }
  }
}

/// What a person means by the argument of `preferred set`.
enum PreferredName: Hashable {
  case network(ExtendedPANID)
  /// An id of the history.
  case former(String)
  case name(String)
  /// Hex digits, a file, or standard input.
  case dataset

  /// The most bytes of a network's name.
  private static let longestName = 16

  init(_ text: String) {
    if let network = ExtendedPANID(hex: text) {
      self = .network(network)
    } else if FormerNetwork.isID(text) {
      self = .former(text)
    } else if text == "-" || text.hasPrefix("@") || text.utf8.count > Self.longestName {
      self = .dataset
    } else {
      self = .name(text)
    }
  }
}
