import Foundation
import Security
import TestKit

/// Calls made of few values, so that they meet each other often.
enum RandomCall {
  private static let accounts = ["", "a", "b", "B", "ä", "Ä"]
  private static let services = ["", "s", "t"]
  private static let labels = ["", "x", "X", "y"]
  private static let groups = ["one", "two", "three"]
  private static let accessibilities = [
    kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
    kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAlwaysThisDeviceOnly,
    kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
  ]

  static func item(_ random: inout SeededGenerator) -> [String: Any] {
    var item = attributes(&random, each: 60)
    if random.below(10) > 0 { item[kSecValueData] = data(&random) }
    if random.below(3) == 0 { item[kSecAttrSynchronizable] = random.below(2) == 0 }
    return item
  }

  static func query(_ random: inout SeededGenerator) -> [String: Any] {
    var query = attributes(&random, each: 30)
    switch random.below(5) {
    case 0: query[kSecAttrSynchronizable] = true
    case 1: query[kSecAttrSynchronizable] = false
    case 2: query[kSecAttrSynchronizable] = kSecAttrSynchronizableAny
    default: break
    }
    return query
  }

  static func search(_ random: inout SeededGenerator) -> [String: Any] {
    var search = query(&random)
    if random.below(4) == 0 { search[kSecMatchCaseInsensitive] = random.below(3) > 0 }
    switch random.below(3) {
    case 0: search[kSecMatchLimit] = kSecMatchLimitAll
    case 1: search[kSecMatchLimit] = random.below(4) + 1
    default: break
    }
    switch random.below(3) {
    case 0: search[kSecReturnData] = true
    case 1: search[kSecReturnAttributes] = true
    default:
      search[kSecReturnAttributes] = true
      search[kSecReturnData] = true
    }
    return search
  }

  static func change(_ random: inout SeededGenerator) -> [String: Any] {
    var change: [String: Any] = [:]
    if random.below(2) == 0 { change[kSecValueData] = data(&random) }
    if random.below(3) == 0 { change[kSecAttrAccount] = random.pick(accounts) }
    if random.below(3) == 0 { change[kSecAttrLabel] = random.pick(labels) }
    if random.below(8) == 0 { change[kSecAttrAccessGroup] = random.pick(groups) }
    if random.below(8) == 0 { change[kSecAttrSynchronizable] = random.below(2) == 0 }
    if random.below(8) == 0 { change[kSecAttrAccessible] = random.pick(accessibilities) }
    return change
  }

  /// - Parameter each: the chance of each attribute, in percent.
  private static func attributes(_ random: inout SeededGenerator, each chance: Int) -> [String: Any] {
    let isGeneric = random.below(3) > 0
    var all: [String: Any] = [
      kSecAttrAccount: random.pick(accounts), kSecAttrLabel: random.pick(labels),
      kSecAttrAccessGroup: random.pick(groups), kSecAttrAccessible: random.pick(accessibilities),
    ]
    if isGeneric {
      all[kSecAttrService] = random.pick(services)
      all[kSecAttrGeneric] = Data(repeating: 7, count: random.below(3))
    } else {
      all[kSecAttrServer] = random.pick(services)
      all[kSecAttrPort] = random.pick([0, 443, 65_535])
    }
    var chosen: [String: Any] = [kSecClass: isGeneric ? kSecClassGenericPassword : kSecClassInternetPassword]
    for name in all.keys.sorted() where random.below(100) < chance { chosen[name] = all[name] }
    return chosen
  }

  private static func data(_ random: inout SeededGenerator) -> Data {
    let length = random.below(20) == 0 ? random.below(5_000) : random.below(100)
    return Data((0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) })
  }
}

extension SeededGenerator {
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
}
