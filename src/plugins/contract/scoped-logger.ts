import { isRecord } from '../../base/json.ts';
import type { BasicLogger, PluginSetupContext } from './plugin.ts';

/** The host's logger for one plugin: whatever it logs says whose it is. */
export function scopedLogger(
  { logger, session }: Pick<PluginSetupContext, 'logger' | 'session'>,
  pluginName: string,
): BasicLogger | undefined {
  if (logger === undefined) return undefined;
  const about = (metadata: unknown): Record<string, unknown> => ({
    ...(session?.sessionId === undefined ? {} : { sessionId: session.sessionId }),
    ...(isRecord(metadata) ? metadata : {}),
    pluginName,
  });
  return {
    debug: (message, metadata) => logger.debug(message, about(metadata)),
    log: (message, metadata) => logger.log(message, about(metadata)),
    error: (message, metadata) =>
      logger.error === undefined
        ? logger.log(message, about(metadata))
        : logger.error(message, about(metadata)),
  };
}
