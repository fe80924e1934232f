import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Prints what failed once more, after everything else: a record that keeps only the end of a long
 * run still says what broke. Errors that belong to no test are in it, since they fail a run in
 * which every test passed.
 */
export class FailuresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const lines: string[] = [];
    const add = (name: string, errors: readonly { message: string; stack?: string }[]) => {
      lines.push(`   ${name}`);
      for (const { message, stack } of errors) {
        const place = stack?.split('\n').find((line) => /\.ts:\d+/.test(line));
        lines.push(
          ...message
            .split('\n')
            .slice(0, 12)
            .map((line) => `     ${line}`),
        );
        if (place) lines.push(`     ${place.trim()}`);
      }
    };
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      if (module.errors().length > 0) add(file, module.errors());
      for (const suite of module.children.allSuites()) {
        if (suite.errors().length > 0) add(`${file} > ${suite.fullName}`, suite.errors());
      }
      for (const test of module.children.allTests('failed')) {
        add(`${file} > ${test.fullName}`, test.result().errors ?? []);
      }
    }
    for (const error of unhandled) {
      const { VITEST_TEST_PATH: path, VITEST_TEST_NAME: name } = error;
      const during = typeof path === 'string' ? `, during ${relative(process.cwd(), path)}` : '';
      add(`outside of every test${during}${name ? ` > ${String(name)}` : ''}`, [error]);
    }
    if (lines.length > 0) process.stdout.write(` What has failed\n${lines.join('\n')}\n\n`);
  }
}
