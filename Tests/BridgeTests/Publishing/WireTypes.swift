// SPDX-License-Identifier: Apache-2.0

import Broker

// The types of the wire as `Broker` has them: what they encode is what has always been published.
typealias WireAlertFacts = Broker.AlertFacts
typealias WireAlertName = Broker.AlertName
typealias WireCredentialState = Broker.CredentialState
typealias OldWireTime = Broker.WireTime
