// SPDX-License-Identifier: Apache-2.0

/// What follows from a transaction once it is on disk, beside what it has written.
struct TransactionOutcome: Sendable {
  var counts = BatchCounts()
  /// To requesters and publishers.
  var answers: [Answer] = []
  /// To routers that are to use the preferred network.
  var adoptionMessages: [AdoptionMessage] = []
  /// For the log.
  var news = BatchNews()

  /// Whether something of it goes to the broker. No device of Home Assistant becomes due without an event.
  var isPublished: Bool {
    counts.events > 0 || !answers.isEmpty || !adoptionMessages.isEmpty
  }
}
