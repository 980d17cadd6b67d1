// SPDX-License-Identifier: Apache-2.0

/// One step of a component's schema. Its place in the component's list is its version, from 1, and
/// a step that was ever released is never changed: the next one corrects it.
package struct Migration: Sendable {
  /// What it does, for the table that records it.
  package let name: String
  let body: @Sendable (WriteTransaction) throws -> Void

  package init(_ name: String, _ body: @escaping @Sendable (WriteTransaction) throws -> Void) {
    self.name = name
    self.body = body
  }

  /// A step that is nothing but statements.
  package init(_ name: String, _ statements: [StaticString]) {
    self.init(name) { transaction in
      for statement in statements { try transaction.execute(statement) }
    }
  }
}
