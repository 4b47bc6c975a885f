import path from 'node:path';

export interface Watching {
  close(): Promise<void>;
}

/** Calls back when something changes in these directories, also when they appear only later. */
export async function watchDirectories(
  directories: readonly string[],
  onChange: () => void,
): Promise<Watching> {
  const { watch } = await import('chokidar');
  // The parents are watched too, because a hook directory may not exist yet; but never what lies beside it.
  const wanted = new Set(directories.flatMap((directory) => [directory, path.dirname(directory)]));
  const watcher = watch([...wanted], { depth: 0, ignoreInitial: true, followSymlinks: true });
  watcher.on('all', onChange);
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
  });
  return { close: () => watcher.close() };
}
