import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = 'mintkeep:public';

/** The route needs no session. Say why beside it: without this, every route needs one. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(IS_PUBLIC, true);
