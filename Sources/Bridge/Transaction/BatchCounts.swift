// SPDX-License-Identifier: Apache-2.0

/// Counters of one transaction.
struct BatchCounts: Sendable {
  var received: Int64 = 0
  var retained: Int64 = 0
  var duplicates: Int64 = 0
  var events: Int64 = 0
  var requestsAnswered: Int64 = 0
  var requestsRefused: Int64 = 0
  /// Routers that left, of which nothing is kept any more.
  var forgotten: Int64 = 0
  var rejected: [String: Int64] = [:]
  /// One message of each code, for the log.
  var rejectionExamples: [String: RejectionLines.Example] = [:]
}
