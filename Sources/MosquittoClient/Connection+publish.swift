// SPDX-License-Identifier: Apache-2.0

extension Connection {
  /// Whether a publication handed over now could leave soon: the broker's window has room, and the
  /// socket takes what is written.
  var canPublish: Bool { window.room > 0 && !isBlocked && disconnect == nil }

  /// Asks the handler for as many publications as there is room for.
  func publish() {
    guard needsPublish, canPublish, handle.isOpen else { return }
    let limit = window.room
    let publications = handler.publications(upTo: limit)
    // Fewer than asked for: there is no more until somebody says so.
    needsPublish = publications.count >= limit
    for publication in publications { send(publication) }
  }

  func send(_ publication: Publication) {
    do throws(MosquittoError) {
      window.add(publication, identifier: try handle.publish(publication))
      queued += 1
    } catch {
      handler.acknowledged(publication.token, .refused(error))
    }
  }

  /// Tells the handler what has been acknowledged, written or refused.
  func settle() {
    guard !record.published.isEmpty else { return }
    let published = record.published
    record.published.removeAll(keepingCapacity: true)
    for one in published {
      let entry =
        one.wasWritten ? window.written(one.identifier) : window.acknowledge(one.identifier)
      guard let entry else { continue }
      // Below 0x80 is success: 0x10 says that nobody has subscribed.
      let outcome: PublicationOutcome =
        one.code < 0x80
        ? .delivered
        : .refused(MosquittoError(puback: one.code, topic: entry.topic, configuration))
      handler.acknowledged(entry.token, outcome)
    }
    settledAt = .now
    needsPublish = true
  }
}
