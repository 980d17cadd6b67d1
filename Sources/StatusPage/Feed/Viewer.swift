// SPDX-License-Identifier: Apache-2.0

/// Somebody who has the page open.
package struct Viewer: Sendable {
  /// Events for a browser; ends with the daemon.
  let frames: AsyncStream<[UInt8]>
  /// Nothing more is wanted. May be called often.
  let leave: @Sendable () -> Void
}
