// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import VarlinkSocket

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The part of `io.threadkeeper.Store` about exports and imports.
extension StoreMethods {
  private static let interface = VarlinkInterface.store.name

  package static let export = VarlinkStream<Export, ExchangeStep>(
    interface, "Export", for: .owner)
  package static let upload = VarlinkMethod<Piece, Uploaded>(interface, "Upload", for: .owner)
  package static let importItems = VarlinkStream<Import, ExchangeStep>(
    interface, "Import", for: .owner)

  /// The most bytes of a piece, before base64: a message is at most 512 KiB.
  package static let pieceLength = 192 << 10

  package struct Export: Codable, Sendable {
    /// That the file is to have.
    package var passphrase: String
    /// Its name, for messages and for the audit. The caller writes it.
    package var file: String

    package init(passphrase: String, file: String) {
      self.passphrase = passphrase
      self.file = file
    }
  }

  package struct Import: Codable, Sendable {
    package var passphrase: String
    /// Its name, for messages.
    package var file: String
    /// Nil: `refuse`.
    package var onConflict: ItemImport.OnConflict?
    /// Whether only to look.
    package var dryRun: Bool?
    /// Whether only credentials and the preferred network are to come in.
    package var credentialsOnly: Bool?

    package init(
      passphrase: String, file: String, onConflict: ItemImport.OnConflict? = nil,
      dryRun: Bool? = nil, credentialsOnly: Bool? = nil
    ) {
      self.passphrase = passphrase
      self.file = file
      self.onConflict = onConflict
      self.dryRun = dryRun
      self.credentialsOnly = credentialsOnly
    }
  }

  package struct Piece: Codable, Sendable {
    /// As base64.
    package var data: Data

    package init(_ data: Data) { self.data = data }
  }

  package struct Uploaded: Codable, Sendable {
    /// Of all pieces.
    package var bytes: Int
  }
}

extension StoreMethods.Export: CustomStringConvertible, CustomReflectable {
  package var description: String { "an export to \(file)" }
  package var customMirror: Mirror { Mirror(self, children: ["file": file]) }
}

extension StoreMethods.Import: CustomStringConvertible, CustomReflectable {
  package var description: String { "an import of \(file)" }
  package var customMirror: Mirror { Mirror(self, children: ["file": file]) }
}

/// A reply of an export or an import: how far it is, or a part of what comes of it.
package struct ExchangeStep: Codable, Sendable {
  package struct Progress: Codable, Equatable, Sendable {
    package var done: Int
    package var total: Int
  }

  package var progress: Progress?
  /// Of an export: the next bytes of the file, as base64.
  package var data: Data?
  /// Of an import: what it names one by one.
  package var names: [ImportedName]?
  /// The last one of an export.
  package var exported: ExportOutcome?
  /// The last one of an import.
  package var imported: ImportOutcome?
}
