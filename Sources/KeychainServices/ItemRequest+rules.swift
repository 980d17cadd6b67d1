// SPDX-License-Identifier: Apache-2.0

import KeychainCore

extension ItemRequest {
  /// Whether the call makes sense to a client with `groups`, before any item is looked at.
  ///
  /// - Throws: as the call itself would.
  package func check(
    for call: KeychainCall, by groups: AccessGroups
  ) throws(KeychainError) {
    switch call {
    case .add:
      _ = try checkedForAdd()
      _ = try groups.group(ofNew: accessGroup)
      return
    case .search:
      try checkForSearch()
    case .update(let change):
      try checkForUpdate()
      try change.checkAsChange()
      if let group = change.accessGroup { _ = try groups.checked(group) }
    case .delete:
      try checkForDelete()
    }
    _ = try groups.groups(searched: accessGroup)
  }

  /// The class of a new item.
  ///
  /// - Throws: `param` for what is invalid when an item is added, `unimplemented` for an
  ///   application password.
  func checkedForAdd() throws(KeychainError) -> ItemClass {
    guard let itemClass else { throw Self.param("an item needs a class") }
    guard case .stored(let stored) = itemClass else {
      throw Self.param("an identity is added as its certificate and its private key")
    }
    guard reference == nil, itemList == nil else {
      throw Self.param("an item to be added has no persistent reference yet")
    }
    try checkValues()
    return stored
  }

  /// - Throws: `param` when nothing says which items are meant.
  func checkForSearch() throws(KeychainError) {
    guard itemClass != nil || reference != nil || itemList != nil else {
      throw Self.param("a search needs a class or a persistent reference")
    }
  }

  func checkForUpdate() throws(KeychainError) {
    try checkForSearch()
    try checkIsNoSkip()
    guard shape.isEmpty, !namesResult else {
      throw Self.param("an update returns nothing: it takes no r_ keys")
    }
    guard limit == nil, !namesMatching else {
      throw Self.param("an update changes every match: it takes no m_ keys")
    }
  }

  /// Checks what items are to become.
  func checkAsChange() throws(KeychainError) {
    guard itemClass == nil, reference == nil, itemList == nil, shape.isEmpty, !namesResult,
      limit == nil, !namesMatching, authenticationUI == nil
    else { throw Self.param("an update can change attributes and data only") }
    try checkValues()
  }

  func checkForDelete() throws(KeychainError) {
    try checkForSearch()
    try checkIsNoSkip()
    guard limit == nil || limit == .all else {
      throw Self.param("deleting concerns every match: it takes no limit")
    }
  }

  /// What can be searched for but not stored.
  private func checkValues() throws(KeychainError) {
    if synchronizable == .any {
      throw Self.param("an item is synchronizable or it is not: \"any\" is for searches")
    }
    if accessControl?.flags.contains(.applicationPassword) == true {
      throw KeychainError(.unimplemented, "application passwords are not supported")
    }
    try checkService()
    try checkIsNoSkip()
  }

  /// Thread credentials have a primary key without the access group: a client that made one could
  /// keep others from theirs.
  private func checkService() throws(KeychainError) {
    guard let service = attributes[.service], RowForm.isOfThread(service: service) else { return }
    throw Self.param(
      "services that begin with \(RowForm.threadServicePrefix) are Thread credentials: choose another"
    )
  }

  private func checkIsNoSkip() throws(KeychainError) {
    guard authenticationUI != .skip else {
      throw Self.param("only a search can skip items that need a person")
    }
  }

  private static func param(_ message: String) -> KeychainError { KeychainError(.param, message) }
}
