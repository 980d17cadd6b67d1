import Foundation
import Security

/// What a keychain of passwords must answer, in the plainest way.
struct KeychainModel {
  struct Entry {
    var itemClass: String
    var attributes: [String: AnyHashable]
    var data: Data?

    /// In a primary key, empty, 0 and false are like nothing.
    func value(_ name: String) -> AnyHashable? {
      guard let value = attributes[name] else { return nil }
      guard name != kSecAttrLabel, name != kSecAttrGeneric else { return value }
      let nothing: [AnyHashable] = ["", 0, false, Data()]
      return nothing.contains(value) ? nil : value
    }

    var primaryKey: [AnyHashable?] {
      let names =
        itemClass == kSecClassGenericPassword
        ? [kSecAttrAccount, kSecAttrService] : [kSecAttrAccount, kSecAttrServer, kSecAttrPort]
      return [itemClass] + (names + [kSecAttrAccessGroup, kSecAttrSynchronizable]).map { value($0) }
    }
  }

  private(set) var items: [Entry] = []
  var groups: [String]

  init(groups: [String]) { self.groups = groups }

  /// Nothing is both synchronizable and for this device only.
  private func isImpossible(_ attributes: [String: Any]) -> Bool {
    attributes[kSecAttrSynchronizable] as? Bool == true
      && (attributes[kSecAttrAccessible] as? String)?.hasSuffix("u") == true
  }

  mutating func add(_ item: [String: Any]) -> OSStatus {
    var entry = Entry(itemClass: item[kSecClass] as? String ?? "", attributes: [:], data: nil)
    entry.attributes[kSecAttrAccessGroup] = groups[0]
    entry.attributes[kSecAttrAccessible] = kSecAttrAccessibleWhenUnlocked
    entry.attributes[kSecAttrSynchronizable] = false
    change(&entry, by: item)
    guard !isImpossible(entry.attributes) else { return errSecParam }
    guard let group = entry.attributes[kSecAttrAccessGroup] as? String, groups.contains(group) else {
      return errSecMissingEntitlement
    }
    guard !items.contains(where: { $0.primaryKey == entry.primaryKey }) else { return errSecDuplicateItem }
    items.append(entry)
    return errSecSuccess
  }

  func search(_ query: [String: Any]) -> (OSStatus, [Entry]) {
    if let status = refusal(query) { return (status, []) }
    let found = matches(query).map { items[$0] }
    guard !found.isEmpty else { return (errSecItemNotFound, []) }
    switch query[kSecMatchLimit] {
    case nil: return (errSecSuccess, [found[0]])
    case let limit as Int: return (errSecSuccess, Array(found.prefix(limit)))
    default: return (errSecSuccess, found)
    }
  }

  mutating func update(_ query: [String: Any], _ change: [String: Any]) -> OSStatus {
    if isImpossible(change) { return errSecParam }
    if let status = refusal(query) ?? refusal(change) { return status }
    let found = matches(query)
    guard !found.isEmpty else { return errSecItemNotFound }
    var after = items
    for index in found { self.change(&after[index], by: change) }
    guard !after.contains(where: { isImpossible($0.attributes) }) else { return errSecParam }
    guard Set(after.map(\.primaryKey)).count == after.count else { return errSecDuplicateItem }
    items = after
    return errSecSuccess
  }

  mutating func delete(_ query: [String: Any]) -> OSStatus {
    if let status = refusal(query) { return status }
    let found = Set(matches(query))
    guard !found.isEmpty else { return errSecItemNotFound }
    items = items.enumerated().filter { !found.contains($0.offset) }.map(\.element)
    return errSecSuccess
  }

  /// A group that is not the program's, in a query or a change.
  private func refusal(_ dictionary: [String: Any]) -> OSStatus? {
    guard let group = dictionary[kSecAttrAccessGroup] as? String, !groups.contains(group) else { return nil }
    return errSecMissingEntitlement
  }

  private func matches(_ query: [String: Any]) -> [Int] {
    let ignoresCase = query[kSecMatchCaseInsensitive] as? Bool ?? false
    return items.indices.filter { index in
      let entry = items[index]
      guard entry.itemClass == query[kSecClass] as? String,
        let group = entry.attributes[kSecAttrAccessGroup] as? String, groups.contains(group)
      else { return false }
      let isSynchronizable = entry.attributes[kSecAttrSynchronizable] as? Bool == true
      switch query[kSecAttrSynchronizable] {
      case let wanted as Bool where wanted != isSynchronizable: return false
      case nil where isSynchronizable: return false
      default: break
      }
      return query.allSatisfy { name, wanted in
        guard name.count == 4, name != kSecAttrSynchronizable else { return true }
        var probe = Entry(itemClass: "", attributes: [:], data: nil)
        probe.attributes[name] = wanted as? AnyHashable
        let (given, found) = (probe.value(name), entry.value(name))
        if given == found { return true }
        guard ignoresCase, let given = given as? String, let found = found as? String, name != kSecAttrAccessGroup,
          name != kSecAttrAccessible
        else { return false }
        return given.lowercased() == found.lowercased()
      }
    }
  }

  private func change(_ entry: inout Entry, by dictionary: [String: Any]) {
    for (name, value) in dictionary {
      if name == kSecValueData { entry.data = value as? Data }
      if name.count == 4 { entry.attributes[name] = value as? AnyHashable }
    }
  }
}
