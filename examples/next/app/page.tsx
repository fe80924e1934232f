import { Batch } from './batch';

export default function Page() {
  return (
    <main>
      <h1>Signed here, aggregated there, checked here</h1>
      <Batch />
    </main>
  );
}
