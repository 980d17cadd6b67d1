// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore

/// What follows from a step of an adoption, in order.
enum AdoptionEffect: Hashable {
  /// The record is written.
  case save(Adoption)
  /// The record goes, also a damaged one.
  case delete
  /// A person is asked; the answer is `AdoptionEvent.asked`.
  case ask
  /// The question of this id, where it was denied, can be asked again at once.
  case allowAgain(String)
  /// The question of this id has no meaning any more.
  case withdraw(String)
  /// History, audit and log: what was agreed to by this id is not given.
  case noteNotGiven(String)
  /// Log: the credentials are not given, because what was asked for has changed.
  case logChanged
  /// The message is sealed and handed to the connection. The first time `AdoptionEvent.sent` follows, if something
  /// could be sealed.
  case send(Adoption)
  /// Audit and event: the credentials are sent. The router is written with its state, and checked.
  case publishSent(Adoption)
  /// The router is written with its state, and checked again.
  case check
}
