// SPDX-License-Identifier: Apache-2.0

/// The Jinja templates by which Home Assistant reads the states.
///
/// A removed state is published as an empty payload, of which `value_json` is not defined. `None` makes a state
/// unknown; an empty text would leave it as it was.
package enum HomeAssistantTemplate {
  /// `online` or `offline`, of `bridge/state` and of a router's availability.
  package static let state = "{{ value_json.state if value_json is defined else 'offline' }}"

  /// One field of a state; unknown where it has none.
  static func field(_ name: String) -> String {
    "{{ value_json.\(name) | default(None) if value_json is defined else None }}"
  }

  /// Of `bridge/info`; unknown where no network is preferred.
  static let preferredNetwork =
    "{{ value_json.preferred_network.network_name "
    + "if value_json is defined and value_json.preferred_network is defined else None }}"

  /// Of `bridge/info`: whether a network can be chosen, because none is preferred.
  static let isUndecided =
    "{{ 'online' if value_json is defined and value_json.preferred_network is not defined "
    + "else 'offline' }}"

  /// The network that a button prefers, as an attribute.
  static func choice(_ network: String) -> String {
    "{{ {'ext_pan_id': '\(network)'} | to_json }}"
  }

  /// Of a router's state: a problem or none; unknown where there is nothing to compare.
  static let mismatch =
    "{{ {'match': 'OFF', 'mismatch': 'ON'}.get(value_json.preferred) "
    + "if value_json is defined else None }}"

  /// The same of a router that is only seen on the local network: on an accepted network nothing is wrong.
  static let seenMismatch =
    "{{ ('ON' if value_json.preferred == 'mismatch' else 'OFF') "
    + "if value_json is defined else None }}"

  /// Of a router's state: whether its adoption has failed.
  static let hasFailed =
    "{{ 'online' if value_json is defined and value_json.adoption == 'failed' else 'offline' }}"

  /// Of `bridge/consent`: what a yes to this request does, as an attribute.
  ///
  /// - Parameter id: `c-` and 16 hex digits.
  static func question(_ id: String) -> String {
    "{% set asked = (value_json.home_assistant | default([]) if value_json is defined else []) "
      + "| selectattr('id', 'eq', '\(id)') | list %}"
      + "{{ ({'question': asked[0].message} if asked else {}) | to_json }}"
  }

  /// Of `bridge/consent`: whether this request is among those that Home Assistant decides about.
  ///
  /// - Parameter id: `c-` and 16 hex digits.
  static func isWaiting(_ id: String) -> String {
    "{{ 'online' if value_json is defined and '\(id)' in value_json.home_assistant | default([]) "
      + "| map(attribute='id') | list else 'offline' }}"
  }

  /// Of `bridge/alerts`. What is only for information is no problem.
  static let problem =
    "{{ ('ON' if value_json.critical + value_json.warning > 0 else 'OFF') "
    + "if value_json is defined else None }}"

  /// Of `bridge/alerts`: what a person needs of each. Home Assistant keeps at most 16 KiB of attributes in its
  /// database, which 20 whole alerts exceed.
  static let alerts =
    "{% set found = namespace(alerts=[]) %}{% if value_json is defined %}"
    + "{% for alert in value_json.alerts %}{% set found.alerts = found.alerts + [{"
    + "'alertname': alert.alertname, 'severity': alert.severity, 'summary': alert.summary, "
    + "'remedy': alert.remedy, 'starts_at': alert.starts_at}] %}{% endfor %}"
    + "{{ {'critical': value_json.critical, 'warning': value_json.warning, 'info': value_json.info, "
    + "'alerts': found.alerts} | to_json }}{% else %}{}{% endif %}"
}
