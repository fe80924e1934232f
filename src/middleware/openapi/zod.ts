/**
 * zod with schemas that can carry OpenAPI descriptions. All schemas of the service use this `z`.
 */
import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';

extendZodWithOpenApi(z);

export { z };
