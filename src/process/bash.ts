import { spawnSync } from 'node:child_process';
import { memoize } from '../base/memoize.ts';

/** By its absolute path, because the scripts that it runs name it so. */
const BASH = '/bin/bash';

/** Whether this bash is 4.1 or newer and was built with connections: older ones, as on macOS, leave all to Node. */
export const canBashConnect = memoize(() => {
  const isNew = '((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 401)) || exit 1';
  // With connections no service has this name; without them there is no such file.
  const connects = 'exec 3<>/dev/tcp/127.0.0.1/none';
  const { stderr } = spawnSync(BASH, ['-p', '-c', `${isNew}; ${connects}`], {
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
    timeout: 5000,
  });
  return stderr?.includes('Invalid argument') ?? false;
});
