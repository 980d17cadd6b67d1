// SPDX-License-Identifier: Apache-2.0

/// How a query finds its rows.
enum SearchPlan {
  /// The row that a reference names.
  case row(Int64)
  /// At most one row for each value of the unique index.
  case primary([[UInt8]])
  /// The rows that have a value in `index_1` or `index_2`.
  case first([[UInt8]], ItemAttribute)
  case second([[UInt8]], ItemAttribute)
  /// Every row is opened.
  case scan

  /// The most look-ups before a scan is as good.
  private static let limit = 32

  /// - Parameters:
  ///   - indexes: one for each epoch of the index key.
  ///   - hasThreadCredentials: they have no account in an index, so a search by account alone
  ///     must not use it while there are any. Asked only then.
  init(
    _ query: ItemQuery, indexes: [BlindIndex], hasThreadCredentials: () throws -> Bool
  ) throws {
    if let reference = query.reference {
      self = .row(reference.rowID)
      return
    }
    guard let itemClass = query.itemClass else {
      self = .scan
      return
    }
    var form = RowForm(itemClass, query.attributes)
    if itemClass == .genericPassword, query.attributes[.service] == nil {
      // Either form could be meant.
      guard query.attributes[.account] != nil, try !hasThreadCredentials() else {
        self = .scan
        return
      }
      form = .genericPassword
    }
    if let keys = try Self.primaryKeys(query, form, indexes) {
      self = .primary(keys)
      return
    }
    let (first, second) = form.sideIndexes
    let firsts = try indexes.compactMap { try $0.side(first, of: form, query.attributes) }
    let seconds = try indexes.compactMap { try $0.side(second, of: form, query.attributes) }
    if !firsts.isEmpty {
      self = .first(firsts, first)
    } else if !seconds.isEmpty, let second {
      self = .second(seconds, second)
    } else {
      self = .scan
    }
  }

  /// Every primary key that the query could mean, as it stands in the index; nil when the query leaves
  /// a part of it open, or means too many.
  private static func primaryKeys(
    _ query: ItemQuery, _ form: RowForm, _ indexes: [BlindIndex]
  ) throws -> [[UInt8]]? {
    var groups: [AttributeValue?] = [nil]
    for attribute in form.primaryKey where attribute != .synchronizable {
      guard query.attributes[attribute] == nil else { continue }
      guard attribute == .accessGroup, let accessGroups = query.accessGroups else { return nil }
      groups = accessGroups.map { .string($0) }
    }
    let synchronizable: [Bool] =
      switch query.synchronizable {
      case .no: [false]
      case .yes: [true]
      case .any: [false, true]
      }
    let count = groups.count * synchronizable.count * indexes.count
    guard count > 0, count <= limit else { return nil }
    var keys: [[UInt8]] = []
    keys.reserveCapacity(count)
    for index in indexes {
      for group in groups {
        for isSynchronizable in synchronizable {
          // Not by way of a dictionary: that would be a large part of a look-up.
          keys.append(
            try index.primaryKey(of: form) { attribute in
              switch attribute {
              case .synchronizable: .bool(isSynchronizable)
              case .accessGroup: group ?? query.attributes[attribute]
              default: query.attributes[attribute]
              }
            })
        }
      }
    }
    return keys
  }
}
