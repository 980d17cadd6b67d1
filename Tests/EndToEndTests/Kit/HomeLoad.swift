import Broker
import TestKit

/// What the routers of one home publish.
///
/// | message | what it is |
/// |---|---|
/// | the first | the announcement of the hub, whose network becomes the preferred one |
/// | the next 199 | announcements of the settled routers, on a network of their own |
/// | every 50th | the announcement of a new router, on the hub's network |
/// | every 20th, and one more | a newer dataset of a settled router |
/// | the others | a new name of a settled router |
///
/// They come from 40 logins, so that none of them is a flood.
struct HomeLoad: LoadContents {
  fileprivate static let settled: UInt64 = 199
  private static let users: UInt64 = 40

  private let home: String
  private let settledNetwork: ThreadNetwork

  init() throws {
    home = try ThreadNetwork("home").hex()
    settledNetwork = try ThreadNetwork("settled")
  }

  fileprivate enum Kind {
    case hub, dataset, newRouter, name

    init(_ number: UInt64) {
      if number == 1 {
        self = .hub
      } else if number <= 1 + HomeLoad.settled || number % 20 == 1 {
        self = .dataset
      } else if number % 50 == 0 {
        self = .newRouter
      } else {
        self = .name
      }
    }
  }

  fileprivate static func router(_ number: UInt64) -> BorderRouter {
    switch Kind(number) {
    case .hub, .newRouter: BorderRouter(number: 0x1_0000 + Int(number), user: "user-\(number / 50 % users)")
    case .dataset, .name: BorderRouter(number: Int(number % settled) + 1, user: "user-\(number % settled % users)")
    }
  }

  func message(_ number: UInt64) -> Publication {
    let router = Self.router(number)
    return switch Kind(number) {
    case .hub, .newRouter: router.announces(home)
    // The network is complete, so another timestamp cannot make it invalid.
    case .dataset: router.announces((try? settledNetwork.hex(at: number)) ?? "")
    case .name: router.says("announce", ("name", "\"Name \(number)\""))
    }
  }

  /// Announces a new router, when all settled ones are there.
  func last(from number: UInt64) -> UInt64 { (max(number, 250) + 49) / 50 * 50 }
}

extension Load<HomeLoad> {
  /// How many routers there are when all has been taken.
  var routers: Int {
    let opening = 1 + HomeLoad.settled
    return Int(opening + (max(acknowledged, opening) - opening) / 50)
  }

  /// Values of routers that are not those which the broker acknowledged last.
  func lost(in installation: Installation) async throws -> Int {
    var names: [String: UInt64] = [:]
    var stamps: [String: UInt64] = [:]
    for number in 1...max(acknowledged, 1) {
      let agent = HomeLoad.router(number).agent
      switch HomeLoad.Kind(number) {
      case .hub, .newRouter: stamps[agent] = 1
      case .dataset: stamps[agent] = number
      case .name: names[agent] = number
      }
    }
    for router in try await installation.json("routers").list {
      guard let agent = router["border_agent_id"]?.text, let number = names[agent],
        router["name"]?.text == "Name \(number)"
      else { continue }
      names[agent] = nil
    }
    for credential in try await installation.json("credentials", "list").list {
      guard let agent = credential["border_agent_id"]?.text, let number = stamps[agent],
        credential["active_timestamp"]?.number == Int64(number)
      else { continue }
      stamps[agent] = nil
    }
    return names.count + stamps.count + refused
  }
}
