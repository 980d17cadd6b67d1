// SPDX-License-Identifier: Apache-2.0

import Broker

/// Names one alert for good: the same home, alert and subject have the same fingerprint.
func alertFingerprint(home: String, name: StaticString, subject: String) -> String {
  AlertName(rawValue: name.description).map {
    AlertFingerprint(home: home, name: $0, subject: subject).description
  } ?? ""
}
