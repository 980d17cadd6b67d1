// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// The preferred network of a home is another one, or has other credentials.
package struct PreferredChange: Sendable {
  /// Nil where there was none, or it could not be opened.
  package let from: OperationalDataset?
  /// Nil: no network is preferred any more.
  package let to: OperationalDataset?
  package let cause: PreferredCause
  /// Under which id the former network is kept; nil where it is not.
  package let formerID: String?

  package init(
    from: OperationalDataset?, to: OperationalDataset?, cause: PreferredCause,
    formerID: String? = nil
  ) {
    self.from = from
    self.to = to
    self.cause = cause
    self.formerID = formerID
  }
}
