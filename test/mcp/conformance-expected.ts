/** Scenarios of the conformance suite for servers, by what they need. Each that the suite runs is in one list. */
export interface Scenarios {
  /** Required by the revision, and passed by our servers without the fixture. */
  readonly required: readonly string[];
  /** Required by the revision, for tools, prompts and resources of the suite's own. */
  readonly withFixture: readonly string[];
  /** Run, but not required, and passed by our servers without the fixture. */
  readonly besides: readonly string[];
  /** Run, but not required, and not passed, each with the reason. */
  readonly notOffered: Readonly<Record<string, string>>;
}

const tasks = 'the extension of tasks is not offered';

export const SCENARIOS: Readonly<Record<string, Scenarios>> = {
  '2026-07-28': {
    required: [
      'caching',
      'dns-rebinding-protection',
      'input-required-result-unsupported-methods',
      'input-required-result-validate-input',
      'prompts-list',
      'resources-list',
      'sep-2164-resource-not-found',
      'server-sse-multiple-streams',
      'tools-list',
    ],
    withFixture: [
      'completion-complete',
      'input-required-result-basic-elicitation',
      'input-required-result-basic-list-roots',
      'input-required-result-basic-sampling',
      'input-required-result-capability-check',
      'input-required-result-ignore-extra-params',
      'input-required-result-missing-input-response',
      'input-required-result-multi-round',
      'input-required-result-multiple-input-requests',
      'input-required-result-non-tool-request',
      'input-required-result-request-state',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
      'prompts-get-embedded-resource',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-with-image',
      'resources-read-binary',
      'resources-read-text',
      'resources-templates-read',
      'server-stateless',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-error',
      'tools-call-image',
      'tools-call-mixed-content',
      'tools-call-simple-text',
      'tools-call-with-progress',
    ],
    besides: ['http-header-validation'],
    notOffered: {
      'http-custom-header-server-validation': 'no tool has parameters in headers',
      'json-schema-2020-12': 'the suite has no server of its own that passes it',
      'tasks-capability-negotiation': tasks,
      'tasks-dispatch-and-envelope': tasks,
      'tasks-lifecycle': tasks,
      'tasks-mrtr-composition': tasks,
      'tasks-mrtr-input': tasks,
      'tasks-request-headers': tasks,
      'tasks-request-state-removal': tasks,
      'tasks-required-task-error': tasks,
      'tasks-status-notifications': tasks,
      'tasks-wire-fields': tasks,
    },
  },
  '2025-11-25': {
    required: [
      'dns-rebinding-protection',
      'logging-set-level',
      'ping',
      'prompts-list',
      'resources-list',
      'resources-subscribe',
      'resources-unsubscribe',
      'server-initialize',
      'server-sse-multiple-streams',
      'tools-list',
    ],
    withFixture: [
      'completion-complete',
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
      'prompts-get-embedded-resource',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-with-image',
      'resources-read-binary',
      'resources-read-text',
      'resources-templates-read',
      'tools-call-audio',
      'tools-call-elicitation',
      'tools-call-embedded-resource',
      'tools-call-error',
      'tools-call-image',
      'tools-call-mixed-content',
      'tools-call-sampling',
      'tools-call-simple-text',
      'tools-call-with-logging',
      'tools-call-with-progress',
    ],
    besides: ['server-session-lifecycle'],
    notOffered: {
      'json-schema-2020-12': 'the suite has no server of its own that passes it',
      'server-sse-polling': 'no stream is closed to be continued by polling',
    },
  },
};

/** Checks of `server-stateless` for tools of the suite's own. The other checks are passed without the fixture. */
export const STATELESS_WITH_FIXTURE = [
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-missing-capability-http-400',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2575-server-rejects-undeclared-capability',
];
