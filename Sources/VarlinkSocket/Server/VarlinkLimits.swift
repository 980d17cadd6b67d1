// SPDX-License-Identifier: Apache-2.0

/// How much a caller may use of a server.
package struct VarlinkLimits: Sendable {
  /// The most bytes of a message, in both directions.
  package var message = 512 << 10
  /// Connections of one user at a time; at least 1. See `CallerPlaces`.
  package var placesPerUser = 8
  /// Streams of one user at a time: the other places are for calls that end.
  package var streamsPerUser = 4
  /// Connections of all users at a time; at least 1.
  package var places = CallerPlaces.total(descriptors: SocketOptions.openFileLimit)
  /// The most time without a whole call, at the beginning and after each reply. Then the connection is closed.
  package var silence = Duration.seconds(10)
  /// The most time in which a caller takes one reply, however its bytes are portioned.
  package var sending = Duration.seconds(10)
  /// What a connection is answered that finds no place, or loses it between two calls, and a call that finds no stream
  /// free. Nil: the connection is closed.
  package var noPlace: VarlinkError?

  /// Whether the kernel is asked to refuse open files. Tests do without it, as Linux before 6.16 has to.
  var refusesDescriptors = true

  package init() {}

  /// For a socket of the daemon's own user and root: 32 places, which requests that wait for consent and streams share,
  /// and fewer where the process may open less than 512 files.
  package static var owner: VarlinkLimits { owner(descriptors: SocketOptions.openFileLimit) }

  static func owner(descriptors: UInt) -> VarlinkLimits {
    var limits = VarlinkLimits()
    limits.places = min(CallerPlaces.total(descriptors: descriptors), 32)
    limits.placesPerUser = limits.places
    limits.streamsPerUser = limits.places / 2 - 1
    return limits
  }
}
