#include <stdio.h>
#include <ttnn.h>

int main(void)
{
	printf("ttnn %s\n", ttnn_version());
	return 0;
}
