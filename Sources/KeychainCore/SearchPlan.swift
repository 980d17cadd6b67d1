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
    let keys = Self.primaryKeys(query, form)
    if !keys.isEmpty, keys.count * indexes.count <= Self.limit {
      self = .primary(
        try indexes.flatMap { index in try keys.map { try index.primaryKey(of: form, $0) } })
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

  /// Every primary key that the query could mean; none when it leaves a part of it open.
  private static func primaryKeys(
    _ query: ItemQuery, _ form: RowForm
  ) -> [[ItemAttribute: AttributeValue]] {
    var key: [ItemAttribute: AttributeValue] = [:]
    var groups: [AttributeValue?] = [nil]
    for attribute in form.primaryKey where attribute != .synchronizable {
      if let value = query.attributes[attribute] {
        key[attribute] = value
      } else if attribute == .accessGroup, let accessGroups = query.accessGroups {
        groups = accessGroups.map { .string($0) }
      } else {
        return []
      }
    }
    let synchronizable: [Bool] =
      switch query.synchronizable {
      case .no: [false]
      case .yes: [true]
      case .any: [false, true]
      }
    return groups.flatMap { group in
      synchronizable.map { isSynchronizable in
        var whole = key
        if let group { whole[.accessGroup] = group }
        whole[.synchronizable] = .bool(isSynchronizable)
        return whole
      }
    }
  }
}
