! PRINT of what is on the device alone: of a module's variable, and of an array's data.
! expect: Stale read of `data::field` by the host, at offset
! expect: called at .*fortran_print.F90:26 \(main program\)
! expect: Stale read of `list\(:\)` by the host, at offset
! expect: called at .*fortran_print.F90:27 \(main program\)
module data
  real(8) :: field(10) = 0
  !$omp declare target(field)
  real(8), allocatable :: list(:)
end module
program main
  use data
  integer :: i
  allocate(list(10))
  list = 1
  !$omp target enter data map(to: list)
  !$omp target
  do i = 1, 10
    field(i) = i
    list(i) = list(i) + i
  end do
  !$omp end target
#if !BUG
  !$omp target update from(field, list)
#endif
  print *, field
  print *, list
  !$omp target exit data map(from: list)
end program
