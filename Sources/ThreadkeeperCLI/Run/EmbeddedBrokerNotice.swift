// SPDX-License-Identifier: Apache-2.0

import EmbeddedBroker
import Settings

/// How to speak to the private broker, in lines that can be copied.
struct EmbeddedBrokerNotice {
  let broker: EmbeddedBroker
  let settings: Settings

  var text: String {
    let base = settings.homes.first?.baseTopic ?? settings.mqtt.baseTopic
    // The commands begin at the first column: what ends the input must stand there, too.
    return """

      A private broker runs on 127.0.0.1:\(broker.port). In another terminal, speak as a border router:

      XDG_CONFIG_HOME='\(broker.clientConfigurationHome(of: "border-router"))' \\
        mosquitto_pub -q 1 -t \(base)/in/border-router/announce -s <<'EOF'
      {"border_agent_id":"a1b2c3d4e5f60718","name":"Living room","dataset":"<TLVs in hex>"}
      EOF

      and in a third one, watch:

      XDG_CONFIG_HOME='\(broker.clientConfigurationHome(of: "monitor"))' \\
        mosquitto_sub -v -t '\(base)/#'


      """
  }
}
