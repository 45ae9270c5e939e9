/** The members of a workspace's manifest that packing reads. */
export interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly license?: string;
  readonly type?: string;
  readonly workspaces?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A workspace by its folder, relative to the repository's root. */
export interface Workspace {
  readonly folder: string;
  readonly manifest: Manifest;
}

/**
 * Returns the manifest of the package `recordbus`. It bundles the workspaces and depends on what they need from npm, in
 * the exact versions of the repository. Throws when two workspaces need different versions.
 */
export function cliManifest(product: Manifest, workspaces: readonly Workspace[]): object {
  const own = workspaces.map(({ manifest }) => manifest.name).sort();
  const external = (members: readonly (Readonly<Record<string, string>> | undefined)[]) => {
    const versions: Record<string, string> = {};
    for (const [name, version] of members.flatMap((member = {}) => Object.entries(member))) {
      if (own.includes(name)) continue;
      if (versions[name] !== undefined && versions[name] !== version)
        throw new Error(`${name} is needed as ${versions[name]} and as ${version}`);
      versions[name] = version;
    }
    return Object.fromEntries(Object.entries(versions).sort());
  };
  const { name, version, description, license } = product;
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { recordbus: 'bin/recordbus.cjs' },
    files: ['bin', 'launch', 'pages'],
    engines: { node: '>=20' },
    dependencies: {
      ...external(workspaces.map(({ manifest }) => manifest.dependencies)),
      ...Object.fromEntries(own.map((workspace) => [workspace, version])),
    },
    optionalDependencies: external([
      product.optionalDependencies,
      ...workspaces.map(({ manifest }) => manifest.optionalDependencies),
    ]),
    bundleDependencies: own,
  };
}
