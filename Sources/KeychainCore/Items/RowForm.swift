// SPDX-License-Identifier: Apache-2.0

/// The form of a row: its class, but for Thread credentials, which have rules of their own. The
/// byte in `items.class`; part of the format.
///
/// **A Thread credential** is a generic password whose service begins with `thread-network/`.
/// Its primary key leaves the access group out, because a border agent id belongs to one team
/// only: so SQLite itself answers "duplicate" across teams. Its only side index is the Extended
/// PAN ID (`gena`), because a fleet has a million of them and each index costs 35 bytes an item.
package enum RowForm: UInt8, CaseIterable {
  case genericPassword = 1
  case internetPassword = 2
  case certificate = 3
  case key = 4
  case threadCredential = 16

  package static let threadServicePrefix = "thread-network/"

  init(_ itemClass: ItemClass, _ attributes: ItemAttributes) {
    switch itemClass {
    case .genericPassword:
      let isThread = attributes[.service].map { Self.isOfThread(service: $0) } ?? false
      self = isThread ? .threadCredential : .genericPassword
    case .internetPassword: self = .internetPassword
    case .certificate: self = .certificate
    case .key: self = .key
    }
  }

  /// Whether a generic password of this service is a Thread credential.
  package static func isOfThread(service: AttributeValue) -> Bool {
    service.withCanonicalBytes { $0.starts(with: threadServicePrefix.utf8) }
  }

  var itemClass: ItemClass {
    switch self {
    case .genericPassword, .threadCredential: .genericPassword
    case .internetPassword: .internetPassword
    case .certificate: .certificate
    case .key: .key
    }
  }

  /// What the unique index covers, in the order in which it is hashed.
  var primaryKey: [ItemAttribute] {
    self == .threadCredential
      ? [.account, .service, .synchronizable] : itemClass.primaryKey
  }

  /// What the columns `index_1` and `index_2` hold.
  var sideIndexes: (first: ItemAttribute, second: ItemAttribute?) {
    switch self {
    case .genericPassword: (.service, .account)
    case .internetPassword: (.server, .account)
    case .certificate: (.issuer, .label)
    case .key: (.applicationLabel, .applicationTag)
    case .threadCredential: (.generic, nil)
    }
  }
}
