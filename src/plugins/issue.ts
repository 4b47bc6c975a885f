/** Something that a person should know of a plugin. */
export interface PluginIssue {
  readonly plugin: string;
  readonly phase:
    | 'discover'
    | 'import'
    | 'validate'
    | 'setup'
    | 'hook'
    | 'tool'
    | 'rule'
    | 'builder'
    | 'command'
    | 'provider'
    | 'mcp'
    | 'automation'
    | 'uncaught';
  readonly message: string;
  /** Whether what it is about is lost. */
  readonly level: 'warning' | 'error';
}

export type OnIssue = (issue: PluginIssue) => void;
